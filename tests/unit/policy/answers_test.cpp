// SPDX-License-Identifier: Apache-2.0
// Answers that are kept for requests that come twice.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "smd/policy/policies.h"

namespace smd::policy {
namespace {

KeptAnswer made(std::int64_t when) { return {.digest = {}, .status = 200, .body = {}, .made = when}; }

TEST(KeptAnswers, AreBoundedInTime) {
  KeptAnswers answers;
  keep_answer(answers, "a", made(1));
  keep_answer(answers, "b", made(2));
  keep_answer(answers, "c", made(kAnswerKept));
  EXPECT_EQ(answers.size(), 3U);
  keep_answer(answers, "d", made(1 + kAnswerKept));
  EXPECT_EQ(answers.size(), 3U);
  EXPECT_FALSE(answers.contains("a"));
}

TEST(KeptAnswers, AreBoundedInNumberAndTheOldestGoes) {
  KeptAnswers answers;
  for (std::size_t i = 0; i <= kMostAnswers; ++i)
    keep_answer(answers, fmt::format("{}", i), made(static_cast<std::int64_t>(i)));
  EXPECT_EQ(answers.size(), kMostAnswers);
  EXPECT_FALSE(answers.contains("0"));
  EXPECT_TRUE(answers.contains("1"));
}

}  // namespace
}  // namespace smd::policy
