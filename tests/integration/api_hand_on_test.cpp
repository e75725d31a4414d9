// SPDX-License-Identifier: Apache-2.0
// A standby is asked for a change: the master makes it, and looks again at who asks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "smd/api/hand_on.h"
#include "smd/api/json_in.h"
#include "smd/api/tag.h"
#include "tests/support/api_backend.h"
#include "tests/support/changeable_subnet.h"

namespace smd {
namespace {

using access::Role;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Header = std::pair<std::string, std::string>;

std::string secret(Role role) { return "smd_" + std::string(to_string(role)); }

/// Two SMs with the same partitions and tokens, joined by a link.
class ApiHandOn : public testing::Test {
 protected:
  ApiHandOn() {
    for (auto* backend : {&standby_, &master_}) {
      test::add_changeable_subnet(*backend);
      auto policies = std::make_shared<policy::Policies>(*view(*backend).policy_state->policies);
      for (const auto role : {Role::viewer, Role::operator_, Role::admin})
        policies->tokens[std::string(to_string(role))] = {.role = role,
                                                          .hash = access::hash_of(secret(role))};
      set_policies(*backend, policies);
    }
    auto copy = view(standby_);
    auto snapshot = std::make_shared<sm::Snapshot>(*copy.snapshot);
    snapshot->state = wire::SmState::standby;
    copy.snapshot = snapshot;
    copy.replica = std::make_shared<replica::ReplicaView>();
    standby_.views.back() = std::make_shared<api::SubnetView>(copy);
    standby_.master = [this](const replica::Call& call) { return at_master(call); };
  }
  static api::SubnetView view(test::FakeBackend& backend) { return *backend.views.back(); }
  static void set_policies(test::FakeBackend& backend, std::shared_ptr<policy::Policies> policies) {
    auto next = view(backend);
    next.policy_state = std::make_shared<const api::PolicyState>(
        api::PolicyState{next.policy_state->config, std::move(policies), next.policy_state->merged});
    backend.views.back() = std::make_shared<api::SubnetView>(next);
  }
  replica::CallAnswer at_master(const replica::Call& call) {
    const auto request = api::request_of(call, "p", Guid{0xb});
    return api::call_answer_of(request ? api::answer(*request, master_) : request.error());
  }
  /// At the standby, with the answer that comes later.
  api::Answer call(api::Request request) {
    auto made = api::answer(request, standby_);
    if (!made.later) return made;
    std::optional<api::Answer> answered;
    (*made.later)([&](api::Answer later) { answered = std::move(later); });
    return answered.value_or(api::Answer{});
  }
  api::Answer call(std::optional<Role> role, std::string method, const std::string& target,
                   std::string body = {}) {
    api::Request request{.method = std::move(method), .target = target, .body = std::move(body)};
    if (role) {
      request.peer = {.local = false, .address = "10.0.0.1"};
      request.authorization = "Bearer " + secret(*role);
    }
    request.time = 1000;
    return call(std::move(request));
  }
  std::size_t partitions(test::FakeBackend& backend) {
    return view(backend).policy_state->policies->api.size();
  }

  test::FakeBackend standby_, master_;
};

TEST_F(ApiHandOn, AChangeIsMadeByTheMasterAndAnsweredAsTheMasterDoes) {
  const auto made = call(Role::operator_, "PUT", "/v1/subnets/p/partitions/blue", "{}");
  EXPECT_EQ(made.status, 201U) << made.body;
  EXPECT_THAT(made.body, HasSubstr("blue"));
  EXPECT_THAT(made.headers, Contains(Header("X-SMD-Role", "standby")));
  EXPECT_EQ(partitions(master_), 1U);
  EXPECT_EQ(partitions(standby_), 0U) << "it comes with the copy";
  ASSERT_THAT(master_.calls, SizeIs(1));
  EXPECT_EQ(master_.calls[0].by, "operator");
  EXPECT_EQ(master_.calls[0].address, "10.0.0.1");
  EXPECT_EQ(master_.calls[0].via, "0x000000000000000b");
  ASSERT_THAT(standby_.calls, SizeIs(1));
  EXPECT_EQ(standby_.calls[0].status, 201U);

  EXPECT_EQ(call({}, "DELETE", "/v1/subnets/p/partitions/blue").status, 200U) << "on the Unix socket too";
  const auto wrong = call(Role::operator_, "POST", "/v1/subnets/p/partitions/none/members", "[\"h1\"]");
  EXPECT_EQ(wrong.status, 404U);
  EXPECT_EQ(wrong.type, api::kProblem);
  const auto ufm = call(Role::operator_, "POST", "/ufmRestV3/resources/pkeys/add", R"({"pkey": "0x12"})");
  EXPECT_EQ(ufm.status, 200U) << ufm.body;
  EXPECT_EQ(partitions(master_), 1U);
}

TEST_F(ApiHandOn, TagsAndKeysAreTheMasters) {
  api::Request request{
      .method = "PUT", .target = "/v1/subnets/p/partitions/blue", .body = "{}", .time = 1000};
  request.if_match = "\"1-0\"";
  EXPECT_EQ(call(request).status, 412U);
  request.if_match.clear();
  EXPECT_EQ(call(request).status, 201U);
  request.if_none_match = "*";
  EXPECT_EQ(call(request).status, 412U);
  request.if_none_match.clear();
  request = {.method = "POST",
             .target = "/v1/subnets/p/partitions/blue/members",
             .body = R"(["h00001"])",
             .time = 1000,
             .idempotency_key = "k"};
  const auto first = call(request), again = call(request);
  EXPECT_EQ(first.status, 200U);
  EXPECT_EQ(again.body, first.body);
  EXPECT_THAT(again.headers, Contains(Header("Idempotent-Replayed", "true")));
  // The master dies, and its copy knows what was answered.
  set_policies(standby_, std::make_shared<policy::Policies>(*view(master_).policy_state->policies));
  standby_.master = nullptr;
  const auto here = call(request);
  EXPECT_EQ(here.body, first.body);
  EXPECT_THAT(here.headers, Contains(Header("X-SMD-Role", "standby")));
  request.idempotency_key = "other";
  EXPECT_EQ(call(request).status, 503U);
}

/// The tag of the state as a whole is the standby's own; what the two have in common is compared again where
/// the order is kept.
TEST_F(ApiHandOn, OfTwoPortOrdersByOneTagTheSecondIsTold) {
  const auto order = [&](const std::string& port, const std::string& action, std::string tag,
                         const std::string& confirm = {}) {
    api::Request request{.method = "POST",
                         .target = "/v1/subnets/p/ports/" + port + "/" + action,
                         .body = confirm.empty() ? "" : R"({"confirm": ")" + confirm + "\"}",
                         .time = 1000};
    request.if_match = std::move(tag);
    return call(request);
  };
  const auto disable = [&](const std::string& port, std::string tag) {
    const auto dry = call({}, "POST", "/v1/subnets/p/ports/" + port + "/disable", R"({"dry_run": true})");
    const auto shown = api::parse_json(dry.body).value();
    return order(port, "disable", std::move(tag), std::string(shown.at("confirm").as_string()));
  };
  const auto copy = [&] {
    set_policies(standby_, std::make_shared<policy::Policies>(*view(master_).policy_state->policies));
  };
  const auto tag = api::tag_of(view(standby_));
  auto swept = view(master_);
  swept.epoch = 77;
  master_.views.back() = std::make_shared<api::SubnetView>(swept);
  ASSERT_NE(api::tag_of(view(master_)), tag);

  EXPECT_EQ(order("h00001/1", "disable", "\"1-0\"", "x").status, 412U) << "by the standby";
  EXPECT_THAT(standby_.handed_on, IsEmpty());
  EXPECT_EQ(disable("h00001/1", tag).status, 200U);
  const auto second = disable("h00002/1", tag);
  EXPECT_EQ(second.status, 412U);
  EXPECT_THAT(second.body, HasSubstr("the ports that are disabled have changed since"));
  EXPECT_EQ(order("h00001/1", "enable", tag).status, 412U);
  EXPECT_EQ(order("h00001/1", "enable", "*").status, 200U) << "whatever they are";
  copy();
  EXPECT_EQ(disable("h00002/1", tag).status, 200U);
  EXPECT_THAT(view(master_).policy_state->policies->disabled_ports, SizeIs(1));
  copy();
  master_.meanwhile = [&] { EXPECT_EQ(disable("h00001/1", tag).status, 200U); };
  EXPECT_EQ(order("h00002/1", "enable", tag).status, 412U) << "kept since";
  EXPECT_THAT(view(master_).policy_state->policies->disabled_ports, SizeIs(2));
}

/// The standby's own state has changed by what the first one has done.
TEST_F(ApiHandOn, AnAnswerThatIsKnownIsNotComparedWithTheTag) {
  const auto accept = [&](std::string tag, std::string key) {
    api::Request request{.method = "POST",
                         .target = "/v1/subnets/p/accept",
                         .body = R"({"lost": true})",
                         .time = 1000,
                         .idempotency_key = std::move(key)};
    request.if_match = std::move(tag);
    return call(std::move(request));
  };
  auto known = view(master_);
  auto snapshot = std::make_shared<sm::Snapshot>(*known.snapshot);
  snapshot->inventory = std::make_shared<const sm::Inventory>();
  known.snapshot = snapshot;
  master_.views.back() = std::make_shared<api::SubnetView>(known);
  const auto tag = api::tag_of(view(standby_));
  const auto first = accept(tag, "k");
  EXPECT_EQ(first.status / 100, 2U) << first.body;
  auto swept = view(standby_);
  swept.epoch += 5;
  standby_.views.back() = std::make_shared<api::SubnetView>(swept);
  const auto again = accept(tag, "k");
  EXPECT_EQ(again.status, first.status) << again.body;
  EXPECT_EQ(again.body, first.body);
  EXPECT_THAT(again.headers, Contains(Header("Idempotent-Replayed", "true")));
  EXPECT_THAT(again.headers, Contains(Header("X-SMD-Role", "standby")));
  EXPECT_EQ(accept(tag, "other").status, 412U);
  EXPECT_THAT(standby_.handed_on, SizeIs(1));
  EXPECT_THAT(master_.accepted, SizeIs(1));
}

TEST_F(ApiHandOn, WithoutAMasterItIs503WithOneSentence) {
  standby_.master = nullptr;
  const auto refused = call(Role::operator_, "PUT", "/v1/subnets/p/partitions/blue", "{}");
  EXPECT_EQ(refused.status, 503U);
  EXPECT_EQ(refused.type, api::kProblem);
  EXPECT_THAT(refused.headers, Contains(Header("Retry-After", "1")));
  EXPECT_THAT(refused.headers, Contains(Header("X-SMD-Role", "standby")));
  EXPECT_EQ(api::parse_json(refused.body)->at("detail"), "p: no SM of the fabric is master at present");
  const auto ufm = call(Role::operator_, "POST", "/ufmRest/resources/pkeys/add", R"({"pkey": "0x12"})");
  EXPECT_EQ(ufm.status, 503U);
  EXPECT_EQ(api::parse_json(ufm.body)->as_object().size(), 1U) << ufm.body;
  EXPECT_EQ(call(Role::viewer, "GET", "/v1/subnets/p/partitions").status, 200U) << "reads stay";
  EXPECT_EQ(call(Role::operator_, "POST", "/v1/subnets/p/resweep").status, 202U) << "its own picture";
}

/// The state of the SM is ahead of what its last sweep has published.
TEST_F(ApiHandOn, WhoHasTakenOverTakesChangesAtOnce) {
  auto next = view(standby_);
  sm::SmView sms;
  sms.state.sm = wire::SmState::master;
  sms.state.contested = true;
  auto copy = std::make_shared<replica::ReplicaView>();
  copy->role = replica::ReplicaView::Role::current;
  next.replica = copy;
  auto snapshot = std::make_shared<sm::Snapshot>(*next.snapshot);
  snapshot->inventory = std::make_shared<const sm::Inventory>();
  snapshot->state = wire::SmState::standby;
  next.snapshot = snapshot;
  const auto be = [&] {
    next.sms = std::make_shared<sm::SmView>(sms);
    standby_.views.back() = std::make_shared<api::SubnetView>(next);
  };
  const auto accept = [&] {
    return call(Role::operator_, "POST", "/v1/subnets/p/accept", R"({"lost": true})").status;
  };

  be();
  EXPECT_EQ(accept(), 503U);
  const auto contested = call(Role::operator_, "PUT", "/v1/subnets/p/partitions/blue", "{}");
  EXPECT_EQ(contested.status, 503U) << "what is committed now may be lost";
  EXPECT_THAT(contested.body, HasSubstr("two_masters"));
  EXPECT_EQ(call({}, "PUT", "/v1/subnets/p/tokens/new", R"({"role": "viewer"})").status, 503U);
  sms.state.contested = false;
  sms.state.alone = true;
  be();
  const auto cut_off = call(Role::operator_, "PUT", "/v1/subnets/p/partitions/blue", "{}");
  EXPECT_EQ(cut_off.status, 503U) << "another SM may be master meanwhile";
  EXPECT_THAT(cut_off.body, HasSubstr("its port has no link"));
  sms.state.alone = false;
  be();
  EXPECT_EQ(call(Role::operator_, "PUT", "/v1/subnets/p/partitions/blue", "{}").status, 201U);
  EXPECT_EQ(call({}, "PUT", "/v1/subnets/p/tokens/new", R"({"role": "viewer"})").status, 201U);
  EXPECT_EQ(accept(), 200U);
  EXPECT_THAT(standby_.accepted, SizeIs(1));
  EXPECT_THAT(standby_.handed_on, IsEmpty());
}

/// One that has stood still may have been replaced. What began at a master is not told to ask the master.
TEST_F(ApiHandOn, AMasterThatMayHaveBeenReplacedIsAskedAgain) {
  const auto refused = [&](std::string_view why, std::string_view says = "nothing was changed") {
    const auto answered = call(Role::operator_, "PUT", "/v1/subnets/p/partitions/blue", "{}");
    EXPECT_EQ(answered.status, 503U) << why << answered.body;
    EXPECT_THAT(answered.body, AllOf(HasSubstr("no_master"), HasSubstr(std::string(says))));
    EXPECT_THAT(answered.headers, Contains(Header("Retry-After", "1")));
  };
  auto next = view(standby_);
  sm::SmView sms;
  sms.state.sm = wire::SmState::master;
  sms.state.sets_held = true;
  next.sms = std::make_shared<sm::SmView>(sms);
  standby_.views.back() = std::make_shared<api::SubnetView>(next);
  refused("stood still");
  sms.state.sets_held = false;
  next.sms = std::make_shared<sm::SmView>(sms);
  standby_.views.back() = std::make_shared<api::SubnetView>(next);
  standby_.replaced = true;
  refused("replaced during the commit", "whether it was made is not known");
  standby_.replaced = false;
  standby_.meanwhile = [&] {
    sms.state.sm = wire::SmState::standby;
    next.sms = std::make_shared<sm::SmView>(sms);
    ++next.epoch;
    next.policy_state = std::make_shared<const api::PolicyState>(*next.policy_state);
    standby_.views.back() = std::make_shared<api::SubnetView>(next);
  };
  refused("replaced before the commit");
  EXPECT_EQ(partitions(standby_), 0U);
}

/// As before, with the master's name: no link, or a master of an earlier version.
TEST_F(ApiHandOn, WhereNothingCanBeHandedOnItIs409) {
  for (const bool linked : {false, true}) {
    auto next = view(standby_);
    auto replica = std::make_shared<replica::ReplicaView>();
    replica->forwards = false;
    next.replica = linked ? replica : nullptr;
    standby_.views.back() = std::make_shared<api::SubnetView>(next);
    const auto refused = call(Role::operator_, "PUT", "/v1/subnets/p/partitions/blue", "{}");
    EXPECT_EQ(refused.status, 409U);
    EXPECT_THAT(refused.body, HasSubstr("not_master"));
  }
  EXPECT_THAT(standby_.handed_on, IsEmpty());
}

TEST_F(ApiHandOn, ARoleIsCheckedAtBothEnds) {
  EXPECT_EQ(call(Role::viewer, "PUT", "/v1/subnets/p/partitions/blue", "{}").status, 403U);
  EXPECT_THAT(standby_.handed_on, IsEmpty()) << "not even asked";

  replica::Call forged{.has_token = true,
                       .caller = "viewer",
                       .role = "admin",
                       .method = "PUT",
                       .target = "/v1/subnets/p/partitions/blue",
                       .body = "{}"};
  EXPECT_EQ(at_master(forged).status, 403U) << "the token's own role counts";
  forged.caller = "operator";
  forged.role = "viewer";
  EXPECT_EQ(at_master(forged).status, 403U) << "and the role that the standby has found";
  forged.role = "root";
  EXPECT_EQ(at_master(forged).status, 403U);
  forged.role = "operator";
  EXPECT_EQ(at_master(forged).status, 201U);
  forged.caller = "none";
  EXPECT_EQ(at_master(forged).status, 401U) << "revoked meanwhile";
}

/// To a master of an earlier version it is a request like any other.
TEST_F(ApiHandOn, AUseOfATokenIsNoRequest) {
  const auto use = api::call_of_use("viewer", 75);
  EXPECT_EQ(api::used_token(use), (api::TokenUse{.token = "viewer", .ago = 75}));
  auto of_before = use;
  of_before.body.clear();
  EXPECT_EQ(api::used_token(of_before), (api::TokenUse{.token = "viewer", .ago = 0}));
  EXPECT_EQ(at_master(use).status, 403U);
  EXPECT_THAT(master_.calls, IsEmpty()) << "api.call";
  EXPECT_THAT(master_.unknown, IsEmpty());
  EXPECT_THAT(master_.used, IsEmpty());
  EXPECT_EQ(call(Role::operator_, "USE", "token").status, 404U) << "of a client";
  EXPECT_THAT(standby_.handed_on, IsEmpty());
  EXPECT_EQ(call(Role::operator_, "PUT", "/v1/subnets/p/partitions/blue", "{}").status, 201U);
  ASSERT_THAT(standby_.handed_on, SizeIs(1));
  EXPECT_EQ(api::used_token(standby_.handed_on[0]), std::nullopt);
}

/// No peer is the Unix socket, reads what it does not copy, or changes what is the daemon's own.
TEST_F(ApiHandOn, APeerAsksForChangesOfTheSubnetAlone) {
  for (const auto& [method, target] :
       {std::pair{"PUT", "/v1/subnets/p/tokens/mine"}, std::pair{"GET", "/v1/subnets/p/tokens"},
        std::pair{"PUT", "/v1/log"}, std::pair{"GET", "/v1/subnets/p/dump"}, std::pair{"GET", "/healthz"},
        std::pair{"PUT", "/v1/subnets/p/priority"}, std::pair{"POST", "/v1/nothing"}, std::pair{"", ""}}) {
    const auto answer = at_master({.caller = "root",
                                   .role = "admin",
                                   .method = method,
                                   .target = target,
                                   .body = R"({"role": "admin"})"});
    EXPECT_EQ(answer.status, 403U) << method << " " << target;
  }
  // A subnet of another name is the one that the link is of.
  EXPECT_EQ(at_master({.caller = "root",
                       .role = "admin",
                       .method = "PUT",
                       .target = "/v1/subnets/0x0000000000000001/partitions/blue",
                       .body = "{}"})
                .status,
            201U);
}

}  // namespace
}  // namespace smd
