// SPDX-License-Identifier: Apache-2.0
// Commands of the command line where the daemon manages several subnets.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

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
              HasSubstr("a, b: it is not there"));
}

/// What a subnet answers.
struct Said {
  unsigned status = 200;
  std::string body;
};

Said refusal(unsigned status, std::string_view message) {
  return {status, fmt::format(R"({{"code":"x","error":{{"message":"{}"}}}})", message)};
}

/// By the beginning of the request; 404 for others.
void answer_each(test::FakeDaemon& daemon, std::map<std::string, Said> answers) {
  daemon.answer = [answers = std::move(answers)](const std::string& request) {
    if (request.starts_with("GET /v1/status"))
      return http(200, R"({"subnets":[{"subnet":"a","state":"up"},{"subnet":"b","state":"up"}]})");
    for (const auto& [begin, said] : answers) {
      if (request.starts_with(begin)) return http(said.status, said.body);
    }
    return http(404, R"({"error":{"message":"it is not there"}})");
  };
}

bool is_asked(test::FakeDaemon& daemon, std::string_view begin) {
  return std::ranges::any_of(daemon.asked(),
                             [&](const std::string& request) { return request.starts_with(begin); });
}

/// A node is of one subnet: that the others have none of its name is no error.
TEST(SeveralSubnets, PortsAndLinksOfANodeAreShownWhereItIs) {
  test::FakeDaemon daemon;
  answer_each(daemon, {{"GET /v1/subnets/b/ports?node=leaf", {200, R"({"ports":[]})"}},
                       {"GET /v1/subnets/b/links?node=leaf", {200, R"({"links":[]})"}}});
  for (const auto* command : {"ports", "links"}) {
    const auto shown = test::ask_daemon(daemon.path(), {command, "leaf"});
    EXPECT_EQ(shown.status, 0) << command << ": " << shown.err;
    EXPECT_EQ(shown.err, "");
    const auto none = test::ask_daemon(daemon.path(), {command, "other"});
    EXPECT_EQ(none.status, 1) << command;
    EXPECT_THAT(none.err, HasSubstr("it is not there"));
  }
}

/// No secret is printed that is good in some of them only.
TEST(SeveralSubnets, ATokenThatOneOfThemHasIsAddedToNone) {
  test::FakeDaemon daemon;
  answer_each(daemon, {{"GET /v1/subnets/a/tokens", {200, R"({"tokens":[{"name":"other"}]})"}},
                       {"GET /v1/subnets/b/tokens", {200, R"({"tokens":[{"name":"t"}]})"}},
                       {"PUT /v1/subnets/", {200, "{}"}}});

  const auto said = test::ask_daemon(daemon.path(), {"token", "add", "t", "--role", "viewer"});
  EXPECT_EQ(said.status, 1);
  EXPECT_EQ(said.out, "");
  EXPECT_EQ(said.err, "smd token: b: there is a token t\n");
  EXPECT_FALSE(is_asked(daemon, "PUT"));
  const auto fresh = test::ask_daemon(daemon.path(), {"token", "add", "u", "--role", "viewer"});
  EXPECT_EQ(fresh.status, 0) << fresh.err;
  EXPECT_TRUE(is_asked(daemon, "PUT /v1/subnets/a/tokens/u"));
  EXPECT_TRUE(is_asked(daemon, "PUT /v1/subnets/b/tokens/u"));
}

TEST(SeveralSubnets, WhatTheOtherOneLacksIsNotSaid) {
  const auto no_h2 = refusal(404, "no node h2 is there"), no_h3 = refusal(404, "no node h3 is there");
  test::FakeDaemon daemon;
  answer_each(daemon, {{"GET /v1/subnets/a/path?src=h2&dst=h3", no_h3},
                       {"GET /v1/subnets/a/path?src=h2&dst=h2", {200, "{}"}},
                       {"GET /v1/subnets/b/path?src=h2", no_h2},
                       {"GET /v1/subnets/a/balance", refusal(400, "h2 is no switch")},
                       {"GET /v1/subnets/b/balance", no_h2},
                       {"GET /v1/subnets/a/nodes/dup", refusal(409, "2 nodes are named dup")},
                       {"GET /v1/subnets/b/nodes/dup", refusal(404, "no node dup is there")},
                       {"POST /v1/subnets/a/ports/", refusal(404, "no node h2 is there")},
                       {"POST /v1/subnets/b/ports/", refusal(409, "b: this SM is not master")}});

  EXPECT_EQ(test::ask_daemon(daemon.path(), {"path", "h2", "h3"}).err, "smd path: a: no node h3 is there\n");
  EXPECT_EQ(test::ask_daemon(daemon.path(), {"balance", "h2"}).err, "smd balance: a: h2 is no switch\n");
  EXPECT_EQ(test::ask_daemon(daemon.path(), {"node", "dup"}).err, "smd node: a: 2 nodes are named dup\n");
  EXPECT_EQ(test::ask_daemon(daemon.path(), {"port", "disable", "h2:1"}).err,
            "smd port: b: this SM is not master\n");
}

TEST(SeveralSubnets, APartitionIsWaitedForInThoseThatHaveIt) {
  test::FakeDaemon daemon;
  answer_each(
      daemon,
      {{"GET /v1/subnets/b/partitions/blue",
        {200,
         R"({"pkey":"0x0005","name":"blue","in_force":true,"member_count":2,"programmed":2,"members":[],"pending":[]})"}}});

  const auto said = test::ask_daemon(daemon.path(), {"partitions", "wait", "blue"});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_EQ(said.out, "b: 0x0005 blue: 2 of 2 members programmed\n");
  EXPECT_EQ(test::ask_daemon(daemon.path(), {"partitions", "wait", "red"}).err,
            "smd partitions: it is not there\n");
}

constexpr auto* kBlue =
    R"({"pkey":"0x0005","name":"blue","in_force":true,"member_count":2,"programmed":2,"members":[],"pending":[]})";

/// A fabric that is not read yet, and an SM that is not asked in time, say nothing of the partition.
TEST(SeveralSubnets, ASubnetThatSaysNothingOfAPartitionIsNotOneWithoutIt) {
  for (const auto* code : {"waiting", "x"}) {
    test::FakeDaemon daemon;
    answer_each(daemon,
                {{"GET /v1/subnets/a/partitions/blue",
                  {503, fmt::format(R"({{"code":"{}","error":{{"message":"a waits: no port"}}}})", code)}},
                 {"GET /v1/subnets/b/partitions/blue", {200, kBlue}}});
    const auto said = test::ask_daemon(daemon.path(), {"partitions", "wait", "blue", "--timeout", "0"});
    EXPECT_EQ(said.status, 1) << said.out;
    EXPECT_EQ(said.err, "smd partitions: a waits: no port\n");
  }
}

TEST(SeveralSubnets, PartitionsAreNotWaitedForLongerThanADay) {
  test::FakeDaemon daemon;
  for (const auto* time : {"1e300", "86401", "-1", "x"}) {
    const auto said = test::ask_daemon(daemon.path(), {"partitions", "wait", "blue", "--timeout", time});
    EXPECT_EQ(said.status, 2) << time;
    EXPECT_NE(said.err.find("to 86400"), std::string::npos) << said.err;
  }
}

TEST(SeveralSubnets, ASubnetThatWaitsIsWaitedFor) {
  test::FakeDaemon daemon;
  daemon.answer = [looks = 0](const std::string& request) mutable {
    if (request.starts_with("GET /v1/status"))
      return http(200, R"({"subnets":[{"subnet":"a","state":"up"},{"subnet":"b","state":"up"}]})");
    if (request.starts_with("GET /v1/subnets/b/")) return http(404, R"({"error":{"message":"not here"}})");
    if (looks++ == 0) return http(503, R"({"code":"waiting","error":{"message":"a waits: no port"}})");
    return http(200, kBlue);
  };

  const auto said = test::ask_daemon(daemon.path(), {"partitions", "wait", "blue"});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_EQ(said.out, "a: 0x0005 blue: 2 of 2 members programmed\n");
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
