// SPDX-License-Identifier: Apache-2.0
#pragma once
// Wrong configurations and their errors, word for word, in a file below tests/golden/config/.
// SMD_UPDATE_GOLDEN=1 writes the errors anew.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "config/load.h"
#include "tests/support/source_file.h"

namespace smd::config {

/// One block of the file: lines of smd.toml, overrides behind "--set ", and after "=> " the errors.
struct GoldenCase {
  std::string toml{};
  std::vector<std::string> overrides{};
  std::vector<std::string> answers{};
};

inline constexpr std::string_view kBetweenCases = "---";
inline constexpr std::string_view kAnswer = "=> ";

inline std::vector<GoldenCase> golden_cases(const std::string& text) {
  std::vector<GoldenCase> cases(1);
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line == kBetweenCases) {
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

inline std::string text_of(const std::vector<GoldenCase>& cases) {
  std::string text;
  for (const auto& one : cases) {
    if (!text.empty()) text += fmt::format("{}\n", kBetweenCases);
    text += one.toml;
    for (const auto& override_text : one.overrides) text += "--set " + override_text + "\n";
    for (const auto& answer : one.answers) text += fmt::format("{}{}\n", kAnswer, answer);
  }
  return text;
}

/// `errors_of(case)` is compared with each case of the file; returns how many cases there are.
template <class ErrorsOf>
std::size_t expect_golden_errors(const std::string& name, ErrorsOf errors_of) {
  const auto path = test::source_file("tests/golden/config/" + name);
  const auto cases = golden_cases(read_file(path).value_or(""));
  auto found = cases;
  for (auto& one : found) one.answers = errors_of(one);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_THAT(found[i].answers, testing::Not(testing::IsEmpty())) << cases[i].toml;
    EXPECT_EQ(found[i].answers, cases[i].answers) << cases[i].toml;
  }
  if (std::getenv("SMD_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text_of(found);
  return cases.size();
}

}  // namespace smd::config
