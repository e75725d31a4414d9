// SPDX-License-Identifier: Apache-2.0
// Changes by several clients, and requests that come twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "smd/api/router.h"
#include "smd/api/tag.h"
#include "tests/support/api_backend.h"
#include "tests/support/changeable_subnet.h"

namespace smd {
namespace {

using testing::HasSubstr;

/// A subnet "p" whose partitions can be changed.
class ApiTwice : public testing::Test {
 protected:
  ApiTwice() { test::add_changeable_subnet(backend_); }
  api::Answer call(std::string method, const std::string& target, std::string body, std::string tag) {
    return api::answer({.method = std::move(method),
                        .target = "/v1/subnets/p/" + target,
                        .body = std::move(body),
                        .if_match = std::move(tag)},
                       backend_);
  }
  void make_blue() { ASSERT_EQ(call("PUT", "partitions/blue", "{}", {}).status, 201U); }

  test::FakeBackend backend_;
};

/// Two clients that read the same and change it: the second one is told.
TEST_F(ApiTwice, AreChangedOnlyAsTheyWereRead) {
  const auto tag = [&] {
    for (const auto& [name, value] : call("GET", "partitions", {}, {}).headers) {
      if (name == "ETag") return value;
    }
    return std::string();
  };
  const auto read = tag();
  ASSERT_NE(read, "");
  auto view = *backend_.views.back();
  view.epoch += 5;
  backend_.views.back() = std::make_shared<api::SubnetView>(view);
  EXPECT_EQ(call("PUT", "partitions/blue", "{}", read).status, 201U) << "a sweep is no change of partitions";
  const auto late = call("POST", "partitions/blue/members", R"(["h00001"])", read);
  EXPECT_EQ(late.status, 412U) << late.body;
  EXPECT_THAT(late.body, HasSubstr("read again"));
  EXPECT_EQ(call("POST", "partitions/blue/members", R"(["h00001"])", "\"x\", " + tag()).status, 200U);
  EXPECT_EQ(call("DELETE", "partitions/blue", {}, "W/" + tag()).status, 412U) << "weak tags match nothing";
  EXPECT_EQ(call("DELETE", "partitions/blue", {}, "*").status, 200U);
  EXPECT_EQ(call("POST", "resweep", {}, read).status, 412U);
  EXPECT_EQ(call("POST", "resweep", {}, tag()).status, 202U);
}

/// All answers of one state have one tag, and errors none.
TEST_F(ApiTwice, ATagMakesNoAnswerOfAnError) {
  make_blue();
  const auto tag = api::tag_of(*backend_.views.back());
  const auto get = [&](const std::string& target, const std::string& known) {
    return api::answer(
        {.method = "GET", .target = "/v1/subnets/p/" + target, .body = {}, .if_none_match = known}, backend_);
  };
  for (const auto& known : {tag, std::string("*")}) {
    for (const auto* target : {"nodes", "nodes?type=ca", "nodes/h00001", "partitions/blue"}) {
      EXPECT_EQ(get(target, known).status, 304U) << target;
      EXPECT_EQ(get(target, known).body, "") << target;
    }
    for (const auto* target :
         {"nodes/none", "partitions/none", "ports?node=none", "path?src=h00001&dst=none"})
      EXPECT_EQ(get(target, known).status, 404U) << target;
    EXPECT_EQ(get("nodes?type=x", known).status, 400U);
  }
}

TEST_F(ApiTwice, AChangeWithAKeyIsMadeOnce) {
  const auto add = [&](const std::string& key, const std::string& body) {
    return api::answer({.method = "POST",
                        .target = "/v1/subnets/p/partitions/blue/members",
                        .body = body,
                        .time = 1000,
                        .idempotency_key = key},
                       backend_);
  };
  make_blue();
  const auto first = add("k1", R"(["h00001"])");
  EXPECT_EQ(first.status, 200U);
  EXPECT_THAT(first.body, HasSubstr("\"changed\":true"));
  call("DELETE", "partitions/blue/members/h00001", {}, {});
  const auto same = add("k1", R"(["h00001"])");
  EXPECT_EQ(same.body, first.body);
  EXPECT_THAT(same.headers,
              testing::Contains(std::pair<std::string, std::string>("Idempotent-Replayed", "true")));
  EXPECT_EQ(backend_.views.back()->policy_state->policies->api.at("blue")->members.size(), 0U)
      << "nothing was done";
  EXPECT_EQ(add("k1", R"(["h00002"])").status, 422U);
  EXPECT_EQ(add("k2", R"(["h00002"])").status, 200U);
  EXPECT_EQ(add("a b", "[]").status, 400U);
  EXPECT_EQ(add(std::string(256, 'k'), "[]").status, 400U);
  EXPECT_EQ(backend_.views.back()->policy_state->policies->answers.size(), 2U) << "kept with the change";
}

/// What it was read by is another state since, by what the first one has changed.
TEST_F(ApiTwice, AnAnswerThatIsKnownIsNotComparedWithTheTag) {
  const auto sweep = [&](std::string tag, std::string key) {
    return api::answer({.method = "POST",
                        .target = "/v1/subnets/p/resweep",
                        .body = {},
                        .time = 1000,
                        .if_match = std::move(tag),
                        .idempotency_key = std::move(key)},
                       backend_);
  };
  const auto tag = api::tag_of(*backend_.views.back());
  const auto first = sweep(tag, "k");
  EXPECT_EQ(first.status, 202U) << first.body;
  auto view = *backend_.views.back();
  view.epoch += 5;
  backend_.views.back() = std::make_shared<api::SubnetView>(view);
  const auto again = sweep(tag, "k");
  EXPECT_EQ(again.status, 202U) << again.body;
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(sweep(tag, "other").status, 412U);
  EXPECT_EQ(sweep(tag, "other").status, 412U) << "it is not under way any more";
  EXPECT_EQ(backend_.asked.size(), 1U);
}

/// In mode sync-strict nothing is answered that no standby has, however often it is asked.
TEST_F(ApiTwice, AChangeThatNoStandbyHasIsAskedForAgain) {
  const auto copied = [&](bool in_sync) {
    auto view = *backend_.views.back();
    auto copy = std::make_shared<replica::ReplicaView>();
    copy->role = replica::ReplicaView::Role::source;
    copy->mode = "sync-strict";
    copy->in_sync = in_sync;
    view.replica = std::move(copy);
    backend_.views.back() = std::make_shared<api::SubnetView>(view);
    backend_.copies = in_sync;
  };
  const auto add = [&] {
    return api::answer({.method = "POST",
                        .target = "/v1/subnets/p/partitions/blue/members",
                        .body = R"(["h00001"])",
                        .time = 1000,
                        .idempotency_key = "k"},
                       backend_);
  };
  make_blue();
  copied(false);
  const auto first = add();
  EXPECT_EQ(first.status, 503U);
  EXPECT_THAT(first.body, HasSubstr("not_copied"));
  EXPECT_THAT(first.headers, testing::Contains(std::pair<std::string, std::string>("Retry-After", "1")));
  EXPECT_EQ(backend_.views.back()->policy_state->policies->api.at("blue")->members.size(), 1U)
      << "it is made";
  EXPECT_EQ(add().status, 503U);
  EXPECT_EQ(call("POST", "partitions/blue/members", R"(["h00001"])", {}).status, 503U);
  copied(true);
  EXPECT_EQ(add().status, 200U);
  EXPECT_EQ(call("POST", "partitions/blue/members", R"(["h00001"])", {}).status, 200U);

  copied(false);
  EXPECT_EQ(call("DELETE", "partitions/blue", {}, {}).status, 503U);
  EXPECT_EQ(call("DELETE", "partitions/blue", {}, {}).status, 503U) << "not: there is none";
  copied(true);
  EXPECT_EQ(call("DELETE", "partitions/blue", {}, {}).status, 404U) << "it has gone, on the standby too";
}

/// The SM that takes over has the state of the one before, and no memory of its calls.
TEST_F(ApiTwice, AnAnswerIsKnownAfterATakeover) {
  const auto add = [&](test::FakeBackend& backend) {
    return api::answer({.method = "POST",
                        .target = "/v1/subnets/p/partitions/blue/members",
                        .body = R"(["h00001"])",
                        .time = 1000,
                        .idempotency_key = "k"},
                       backend);
  };
  make_blue();
  const auto first = add(backend_);
  test::FakeBackend other;
  other.views = backend_.views;
  const auto again = add(other);
  EXPECT_EQ(again.body, first.body);
  EXPECT_THAT(first.body, HasSubstr("\"changed\":true"));
}

TEST_F(ApiTwice, AnAnswerToUfmsClientsIsKnownAfterATakeover) {
  const auto add = [&](test::FakeBackend& backend) {
    return api::answer({.method = "POST",
                        .target = "/ufmRestV3/resources/pkeys",
                        .body = R"({"pkey": "0x70", "guids": ["0200000000fe0001"]})",
                        .time = 1000,
                        .idempotency_key = "k"},
                       backend);
  };
  const auto first = add(backend_);
  EXPECT_EQ(first.status, 200U) << first.body;
  test::FakeBackend other;
  other.views = backend_.views;
  const auto again = add(other);
  EXPECT_EQ(again.status, 200U) << "clients take no 201";
  EXPECT_EQ(again.body, first.body);
  EXPECT_THAT(again.headers,
              testing::Contains(std::pair<std::string, std::string>("Idempotent-Replayed", "true")));
}

TEST_F(ApiTwice, ARequestThatIsRefusedMayBeMadeAgainWithItsKey) {
  const auto sweep = [&](const std::string& body) {
    return api::answer({.method = "POST",
                        .target = "/v1/subnets/p/resweep",
                        .body = body,
                        .time = 1000,
                        .idempotency_key = "k"},
                       backend_)
        .status;
  };
  EXPECT_EQ(sweep(R"({"sweep": "x"})"), 400U);
  EXPECT_EQ(sweep(R"({"sweep": "heavy"})"), 202U);
  EXPECT_EQ(sweep(R"({"sweep": "heavy"})"), 202U);
  EXPECT_EQ(sweep(R"({"sweep": "light"})"), 422U);
  EXPECT_EQ(backend_.asked.size(), 1U);
}

}  // namespace
}  // namespace smd
