// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "tests/support/fake_daemon.h"

namespace smd::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A daemon that refuses all but questions for its subnets.
class Words : public testing::Test {
 protected:
  test::Asked refused(const std::string& code, const std::string& message, std::vector<std::string> words) {
    daemon_.answer = [=](const std::string& request) {
      const bool status = request.starts_with("GET /v1/status");
      const auto body = status ? std::string(R"({"subnets":[{"subnet":"f","state":"up"}]})")
                               : R"({"code":")" + code + R"(","error":{"code":")" + code +
                                     R"(","message":")" + message + R"("}})";
      return std::string(status ? "HTTP/1.1 200 OK" : "HTTP/1.1 400 Bad Request") +
             "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body;
    };
    return test::ask_daemon(daemon_.path(), std::move(words));
  }
  test::FakeDaemon daemon_;
};

TEST(WordsOfNumbers, OneIsNotMany) {
  EXPECT_EQ(counted("0", "node"), "0 nodes");
  EXPECT_EQ(counted("1", "node"), "1 node");
  EXPECT_EQ(counted("11", "node"), "11 nodes");
  EXPECT_EQ(counted("1", "switch", "switches"), "1 switch");
  EXPECT_EQ(counted("2", "switch", "switches"), "2 switches");
}

TEST(WordsOfNumbers, AKeyOfTheApiBecomesItsOption) {
  constexpr std::array kOptions{OptionOfKey{"pkey", "--pkey"}, OptionOfKey{"members[]", "MEMBERS"}};
  EXPECT_EQ(with_option("pkey: found 1", kOptions), "--pkey: found 1");
  EXPECT_EQ(with_option("members[7].ports: found x: y", kOptions), "MEMBERS: found x: y");
  for (const auto* other : {"the API has no pkey", "sl: found 1", "pkey", ""})
    EXPECT_EQ(with_option(other, kOptions), other);
}

TEST_F(Words, RefusalsNameTheOptionsOfTheCommandLine) {
  EXPECT_THAT(
      refused("bad_body", "ipoib.mtu: found 99", {"partitions", "create", "x", "--mtu", "99", "--ipoib"}).err,
      HasSubstr(": --mtu: found 99"));
  EXPECT_THAT(refused("bad_body", "members[0].ports: found y", {"partitions", "add", "x", "y"}).err,
              HasSubstr(": MEMBERS: found y"));
  EXPECT_THAT(refused("bad_body", "partitions: none", {"token", "add", "x", "--role", "tenant"}).err,
              HasSubstr(": --partition: none"));
  EXPECT_THAT(refused("bad_query", "pkey: a P_Key", {"path", "a", "b", "--pkey", "z"}).err,
              HasSubstr(": --pkey: a P_Key"));
}

TEST_F(Words, APortThatCutsOffIsDisabledWithConfirm) {
  const auto said = refused("needs_confirmation", "this cuts off h1", {"port", "disable", "h1:1"});
  EXPECT_EQ(said.status, 1);
  EXPECT_THAT(said.err, HasSubstr("this cuts off h1: smd port disable h1:1 --dry-run, then --confirm TEXT"));
  const auto other = refused("no_such_node", "no node h1 is there", {"port", "disable", "h1:1"});
  EXPECT_THAT(other.err, Not(HasSubstr("--confirm")));
}

/// The API takes a number for decimal, and a text without 0x for wrong.
TEST_F(Words, ADecimalPKeyIsSentAsANumber) {
  std::string body;
  daemon_.answer = [&](const std::string& request) {
    const std::string text = request.starts_with("GET")
                                 ? R"({"subnets":[{"subnet":"f","state":"up"}]})"
                                 : R"({"pkey":"0x0012","partition":"x","changed":true})";
    if (!request.starts_with("GET")) body = request.substr(request.find("\r\n\r\n") + 4);
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(text.size()) +
           "\r\nConnection: close\r\n\r\n" + text;
  };
  const auto made = test::ask_daemon(daemon_.path(), {"partitions", "create", "x", "--pkey", "18"});
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(body, HasSubstr(R"("pkey":18)"));
  test::ask_daemon(daemon_.path(), {"partitions", "create", "x", "--pkey", "0x12"});
  EXPECT_THAT(body, HasSubstr(R"("pkey":"0x12")"));
}

}  // namespace
}  // namespace smd::cli
