// SPDX-License-Identifier: Apache-2.0
// What an operator is told about a wrong configuration, word for word: tests/golden/config/wrong.txt, which
// SMD_UPDATE_GOLDEN=1 writes anew.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/config/support.h"

namespace smd::config {
namespace {

constexpr std::string_view kGolden = SMD_SOURCE_DIR "/tests/golden/config/wrong.txt";
constexpr std::string_view kBetween = "---";
constexpr std::string_view kAnswer = "=> ";

/// One block of the file: lines of smd.toml, overrides behind "--set ", and after "=> " what is to be said.
struct Case {
  std::string toml;
  std::vector<std::string> overrides;
  std::vector<std::string> answers;
};

std::vector<Case> cases_of(const std::string& text) {
  std::vector<Case> cases(1);
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line == kBetween) {
      cases.emplace_back();
    } else if (line.starts_with(kAnswer)) {
      cases.back().answers.push_back(line.substr(kAnswer.size()));
    } else if (line.starts_with("--set ")) {
      cases.back().overrides.push_back(line.substr(6));
    } else {
      cases.back().toml += line + "\n";
    }
  }
  return cases;
}

std::string text_of(const std::vector<Case>& cases) {
  std::string text;
  for (const auto& one : cases) {
    if (!text.empty()) text += fmt::format("{}\n", kBetween);
    text += one.toml;
    for (const auto& override_text : one.overrides) text += "--set " + override_text + "\n";
    for (const auto& answer : one.answers) text += fmt::format("{}{}\n", kAnswer, answer);
  }
  return text;
}

TEST(WrongConfigurations, EachIsNamedWithItsLineItsValueAndWhatIsAllowed) {
  const std::map<std::string, std::string> files{{"bad.guids", "0x1\nxyz\n"},
                                                 {"empty.guids", "# none\n"},
                                                 {"map", "0x1 \"a\"\n0x1 \"b\"\n0x2 leaf\n"},
                                                 {"key", "secret\n"}};
  const auto cases = cases_of(read_file(kGolden).value_or(""));
  auto found = cases;
  for (auto& one : found) one.answers = errors_of(one.toml, one.overrides, files);

  EXPECT_GE(cases.size(), 80U);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_THAT(found[i].answers, testing::Not(testing::IsEmpty())) << cases[i].toml;
    EXPECT_EQ(found[i].answers, cases[i].answers) << cases[i].toml;
  }
  if (std::getenv("SMD_UPDATE_GOLDEN") != nullptr) std::ofstream(std::string(kGolden)) << text_of(found);
}

/// Texts that toml++ 3.3 answers with an assertion or with undefined behaviour.
TEST(WrongConfigurations, WhatTheLibraryCannotBearIsAnErrorInItsLine) {
  EXPECT_THAT(errors_of("[lids]\nlmc = 9\n[(x]\n[sm]\npriority = 77\n"),
              testing::ElementsAre("smd.toml:2: lids.lmc: 9 is out of range (0 to 7, or \"keep\")",
                                   "smd.toml:3: syntax error in '[(x]': a key, a table or a comment",
                                   "smd.toml:5: sm.priority: 77 is out of range (0 to 15)"));
  EXPECT_THAT(
      errors_of("gr\u00f6\u00dfe = 3\n"),
      testing::ElementsAre(testing::StartsWith("smd.toml:1: syntax error in 'gr\u00f6\u00dfe = 3': ")));
}

TEST(WrongConfigurations, AKeyOfThousandsOfPartsIsRefusedBeforeItIsRead) {
  std::string deep = "a";
  for (int i = 0; i < 100'000; ++i) deep += ".a";

  EXPECT_THAT(errors_of(deep + " = 1\n"),
              testing::ElementsAre("smd.toml:1: syntax error: a key of very many parts"));
}

TEST(WrongConfigurations, AFileThatIsMissingIsNamed) {
  const auto config = load("/etc/smd/none.toml", {}, context_with());

  ASSERT_FALSE(config);
  ASSERT_EQ(config.error().size(), 1U);
  EXPECT_EQ(to_string(config.error()[0]), "/etc/smd/none.toml: No such file or directory");
}

TEST(WrongConfigurations, AFolderIsNoFile) {
  auto context = context_with();
  context.read = read_file;
  const auto config = load(testing::TempDir(), {}, context);

  ASSERT_FALSE(config);
  EXPECT_THAT(to_string(config.error().at(0)), testing::HasSubstr("Is a directory"));
}

TEST(WrongConfigurations, TheSmKeyNeverShows) {
  const auto errors = errors_of("[sm]\nkey_file = \"key\"\n", {}, {{"key", "0xdeadbeefdeadbeefdead"}});

  ASSERT_EQ(errors.size(), 1U);
  EXPECT_THAT(errors[0], testing::Not(testing::HasSubstr("dead")));
}

}  // namespace
}  // namespace smd::config
