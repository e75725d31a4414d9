// SPDX-License-Identifier: Apache-2.0
// Commands of the command line where the daemon manages several subnets.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "tests/support/fake_daemon.h"

namespace smd::cli {
namespace {

using testing::HasSubstr;

std::string http(unsigned status, const std::string& body) {
  return fmt::format("HTTP/1.1 {} X\r\nContent-Length: {}\r\n\r\n{}", status, body.size(), body);
}

/// Subnets a and b, and what is answered to requests other than status: by the beginning of the request, else
/// 404 with `code`.
void answer_as_two(test::FakeDaemon& daemon, std::map<std::string, std::string> good,
                   const std::string& code) {
  daemon.answer = [good = std::move(good), code](const std::string& request) {
    if (request.starts_with("GET /v1/status"))
      return http(200, R"({"subnets":[{"subnet":"a","state":"up"},{"subnet":"b","state":"up"}]})");
    for (const auto& [begin, body] : good) {
      if (request.starts_with(begin)) return http(200, body);
    }
    return http(404, fmt::format(R"({{"code":"{}","error":{{"message":"it is not there"}}}})", code));
  };
}

std::size_t orders(test::FakeDaemon& daemon) {
  const auto asked = daemon.asked();
  return static_cast<std::size_t>(std::ranges::count_if(asked, [](const std::string& request) {
    return request.starts_with("POST") && request.find(R"("dry_run":false)") != std::string::npos;
  }));
}

constexpr auto* kOrder = R"({"action":"disable","dry_run":false,"changed":true})";

TEST(SeveralSubnets, TheSameErrorOfAllIsSaidOnce) {
  test::FakeDaemon both;
  answer_as_two(both, {}, "bad_name");

  EXPECT_EQ(test::ask_daemon(both.path(), {"token", "add", "bad/name", "--role", "viewer"}).err,
            "smd token: it is not there\n");
}

/// LIDs and names of hosts are those of every fabric.
TEST(SeveralSubnets, APortOrderGoesToOneOfThemOnly) {
  test::FakeDaemon both;
  answer_as_two(
      both,
      {{"POST /v1/subnets/a/ports/14/3/disable", kOrder}, {"POST /v1/subnets/b/ports/14/3/disable", kOrder}},
      "no_such_node");
  const auto refused = test::ask_daemon(both.path(), {"port", "disable", "14:3"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("14:3 is in several subnets (a, b): name one with --subnet"));
  EXPECT_EQ(orders(both), 0U);
  EXPECT_EQ(test::ask_daemon(both.path(), {"port", "disable", "14:3", "--subnet", "b"}).status, 0);
  EXPECT_EQ(orders(both), 1U);

  test::FakeDaemon one;
  answer_as_two(one, {{"POST /v1/subnets/b/ports/14/3/disable", kOrder}}, "no_such_node");
  EXPECT_EQ(test::ask_daemon(one.path(), {"port", "disable", "14:3"}).status, 0);
  EXPECT_EQ(orders(one), 1U);

  test::FakeDaemon none;
  answer_as_two(none, {}, "no_such_node");
  EXPECT_THAT(test::ask_daemon(none.path(), {"port", "disable", "14:3"}).err,
              HasSubstr("a: it is not there; b: it is not there"));
}

TEST(SeveralSubnets, ATokenOfOneOfThemIsRevokedAndRotatedThere) {
  test::FakeDaemon daemon;
  answer_as_two(daemon,
                {{"DELETE /v1/subnets/b/tokens/t", "{}"}, {"POST /v1/subnets/b/tokens/t/rotate", "{}"}},
                "no_such_token");

  const auto revoked = test::ask_daemon(daemon.path(), {"token", "revoke", "t"});
  EXPECT_EQ(revoked.status, 0) << revoked.err;
  EXPECT_EQ(revoked.out, "b: t: revoked\n");
  const auto rotated = test::ask_daemon(daemon.path(), {"token", "rotate", "t"});
  EXPECT_EQ(rotated.status, 0) << rotated.err;
  EXPECT_TRUE(rotated.out.starts_with("smd_")) << rotated.out;
  const auto none = test::ask_daemon(daemon.path(), {"token", "revoke", "u"});
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.err, HasSubstr("it is not there"));
}

}  // namespace
}  // namespace smd::cli
