// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/ask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/support/fake_daemon.h"

namespace smd::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Ask, ADaemonThatDoesNotAnswerIsCritical) {
  test::FakeDaemon daemon;
  daemon.answer = [](const std::string&) { return std::string(); };
  const auto begun = std::chrono::steady_clock::now();

  const auto nagios = test::ask_daemon(daemon.path(), {"status", "--nagios", "--timeout", "1"});
  const auto check = test::ask_daemon(daemon.path(), {"status", "--check", "--timeout", "1"});

  EXPECT_EQ(nagios.status, 2);
  EXPECT_THAT(nagios.out, StartsWith("SMD CRITICAL - "));
  EXPECT_THAT(nagios.out, HasSubstr("the daemon has not answered within 1 s\n"));
  EXPECT_EQ(check.status, 1);
  EXPECT_THAT(check.err, HasSubstr("the daemon has not answered within 1 s"));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(30));
}

TEST(Ask, WrongUseEndsWithTwoAndAsksNothing) {
  test::FakeDaemon daemon;
  const std::vector<std::vector<std::string>> wrong{
      {"token", "add"},       {"token", "add", "x"},          {"token", "revoke"},
      {"sweep", "off"},       {"sweep", "on", "--for", "1h"}, {"partitions", "create"},
      {"partitions", "show"}, {"partitions", "add", "blue"}};

  for (const auto& words : wrong) {
    const auto said = test::ask_daemon(daemon.path(), words);
    EXPECT_EQ(said.status, 2) << words.back();
    EXPECT_THAT(said.err, StartsWith("smd " + words.front() + ": "));
  }
  EXPECT_TRUE(daemon.asked().empty());
}

}  // namespace
}  // namespace smd::cli
