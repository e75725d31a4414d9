// SPDX-License-Identifier: Apache-2.0
// What an operator is told about a wrong configuration, word for word: tests/golden/config/wrong.txt, which
// SMD_UPDATE_GOLDEN=1 writes anew.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/unit/config/golden_errors.h"
#include "tests/unit/config/support.h"

namespace smd::config {
namespace {

TEST(WrongConfigurations, EachIsNamedWithItsLineItsValueAndWhatIsAllowed) {
  const std::map<std::string, std::string> files{{"bad.guids", "0x1\nxyz\n"},
                                                 {"empty.guids", "# none\n"},
                                                 {"map", "0x1 \"a\"\n0x1 \"b\"\n0x2 leaf\n"},
                                                 {"key", "secret\n"},
                                                 {"wrong.conf", "A=1 : 0x10g ;\nB=2x : ALL ;\n"},
                                                 {"good.conf", "\nA=0x10 : ALL ;\n"}};

  const auto count = expect_golden_errors(
      "wrong.txt", [&](const GoldenCase& one) { return errors_of(one.toml, one.overrides, files); });
  EXPECT_GE(count, 90U);
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
