// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string>

#include "smd/cli/wait_command.h"
#include "tests/support/fake_daemon.h"

namespace smd::cli {
namespace {

namespace json = boost::json;

/// This SM and two others: 0x…a, priority 5, and 0x…b, priority 9.
json::value sms(const std::string& own, const std::string& a, const std::string& b) {
  const auto row = [](const char* guid, int priority, const std::string& state, bool self) {
    return json::object{{"guid", guid},   {"node", "h"},  {"priority", priority},
                        {"state", state}, {"self", self}, {"answers", true}};
  };
  return json::object{
      {"sms", json::array{row("0x0000000000000001", 9, own, true), row("0x000000000000000a", 5, a, false),
                          row("0x000000000000000b", 9, b, false)}}};
}

json::value source(const std::string& a, const std::string& b) {
  const auto standby = [](const char* guid, const std::string& at) {
    return json::object{{"guid", guid}, {"position", at}, {"lag_transactions", 1}};
  };
  return json::object{{"replica", json::object{{"role", "source"},
                                               {"position", "2.7"},
                                               {"standbys", json::array{standby("0x000000000000000a", a),
                                                                        standby("0x000000000000000b", b)}}}}};
}

json::value copy(const std::string& role) {
  return json::object{{"replica", json::object{{"role", role}, {"position", "2.7"}}}};
}

bool is_ready(const std::string& what, const json::value& status, const json::value& all) {
  const auto found = readiness(what, status, all);
  return found && found->ready;
}

TEST(Wait, AMasterIsReadyWhenTheStandbyThatGetsTheFabricIsCurrent) {
  const auto all = sms("master", "standby", "standby");

  EXPECT_TRUE(is_ready("replica", source("2.6", "2.7"), all));
  for (const auto* what : {"replica", "restart"})
    EXPECT_TRUE(is_ready(what, source("2.7", "1.7"), all)) << "which ends, and hands over to this one";
  EXPECT_FALSE(is_ready("replica", source("2.6", "2.6"), all));
  EXPECT_FALSE(is_ready("restart", source("2.6", "1.7"), all));
}

/// An opensm with a higher rank.
TEST(Wait, AStandbyThatCopiesComesBeforeOneThatDoesNot) {
  auto status = source("2.7", "2.7");
  status.at("replica").at("standbys").as_array().pop_back();
  const auto all = sms("master", "standby", "standby");
  for (const auto* what : {"replica", "restart"}) {
    EXPECT_TRUE(is_ready(what, status, all)) << what;
    const auto behind = readiness(
        what,
        [&] {
          auto later = status;
          later.at("replica").at("position") = "2.8";
          return later;
        }(),
        all);
    ASSERT_TRUE(behind);
    EXPECT_EQ(behind->why, "standby 0x000000000000000a lacks 1 transaction");
  }
}

TEST(Wait, AStandbyComesBeforeOneThatShowsNotActive) {
  EXPECT_TRUE(is_ready("restart", source("2.7", "1.0"), sms("master", "standby", "not_active")));
  EXPECT_FALSE(is_ready("restart", source("2.7", "2.7"), sms("master", "discovering", "discovering")));
}

/// It ranks before one that shows Not-active for [ha] quiet, and never gets the fabric.
TEST(Wait, AStandbyThatIsNeverObeyedIsNoneToWaitFor) {
  auto status = source("2.7", "1.0");
  const auto all = sms("master", "not_active", "standby");
  EXPECT_FALSE(is_ready("restart", status, all));
  status.as_object()["other_sms"] =
      json::array{json::object{{"guid", "0x000000000000000b"}, {"never_obeyed", "another SM_Key"}}};
  for (const auto* what : {"replica", "restart"}) EXPECT_TRUE(is_ready(what, status, all)) << what;
}

TEST(Wait, AStandbyIsReadyWhenItsCopyIsCurrent) {
  const auto all = sms("standby", "master", "standby");

  EXPECT_TRUE(is_ready("replica", copy("current"), all));
  EXPECT_FALSE(is_ready("replica", copy("behind"), all));
  EXPECT_TRUE(is_ready("restart", copy("lost"), all));  // its restart costs nothing
}

TEST(Wait, WithoutAMasterThisSmMayBecomeIt) {
  EXPECT_FALSE(is_ready("restart", copy("current"), sms("standby", "standby", "standby")));
  EXPECT_FALSE(is_ready("restart", copy("none"), sms("discovering", "standby", "discovering")));
}

TEST(Wait, AnSmThatBeginsIsWaitedFor) {
  const json::value nothing = json::object{{"sms", json::array{}}};
  const json::value none = json::object{{"replica", nullptr}};

  EXPECT_EQ(readiness("replica", copy("none"), nothing)->why, "replica: none");
  EXPECT_EQ(readiness("restart", none, nothing)->why, "this SM has not begun yet");
}

TEST(Wait, ASubnetThatHasNoNameYetIsWaitedFor) {
  test::FakeDaemon daemon;
  daemon.answers["/v1/status"] = R"({"subnets":[{"subnet":"","waiting":null}]})";

  for (const auto* what : {"replica", "restart"}) {
    const auto said = test::ask_daemon(daemon.path(), {"wait", what, "--timeout", "0"});
    EXPECT_EQ(said.status, 3);
    EXPECT_EQ(said.out, "no subnet yet: smd begins\n");
  }
}

TEST(Wait, WithoutACopyThereIsNothingToWaitFor) {
  const json::value none = json::object{{"replica", nullptr}};

  EXPECT_FALSE(readiness("replica", none, sms("standby", "master", "standby")));
  EXPECT_FALSE(readiness("restart", none, sms("master", "standby", "standby")));
  EXPECT_TRUE(is_ready("restart", none, sms("standby", "master", "standby")));
}

}  // namespace
}  // namespace smd::cli
