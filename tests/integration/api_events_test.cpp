// SPDX-License-Identifier: Apache-2.0
// Events over the API: pages, streams, and what a tenant sees of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "smd/api/event_stream.h"
#include "smd/api/json_in.h"
#include "smd/api/router.h"
#include "tests/support/api_backend.h"
#include "tests/support/managed_world.h"
#include "tests/support/partition_config.h"

namespace smd {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// A fabric with partition "blue" of host h00001, and a token of each role.
class ApiEvents : public testing::Test {
 protected:
  ApiEvents() {
    auto policy_state = std::make_shared<api::PolicyState>();
    policy_state->config = std::make_shared<const config::SubnetConfig>(test::with_partitions(
        {test::partition("blue", 0x12, {"h00001"}, {}), test::partition("red", 0x13, {"h00002"}, {})}));
    auto policies = std::make_shared<policy::Policies>();
    add_token(*policies, "tenant", access::Role::tenant);
    add_token(*policies, "viewer", access::Role::viewer);
    policy_state->policies = policies;
    policy_state->merged = policy::merged_policy(*policy_state->config, *policies);
    sim::World world(test::spec("ft2:4"));
    test::Managed manager(world, *policy_state->config, test::once());
    world.run(manager->run());
    auto snapshot = std::make_shared<sm::Snapshot>(manager.last());
    for (const auto& node : snapshot->subnet->nodes) {
      if (node->description == "h00001") own_ = node->guid();
      if (node->description == "h00002") foreign_ = node->guid();
    }
    snapshot->state = wire::SmState::master;
    backend_.add({.name = "up", .port = "mlx5_0:1", .snapshot = snapshot, .policy_state = policy_state});
  }
  static void add_token(policy::Policies& policies, const std::string& name, access::Role role) {
    auto& token = policies.tokens[name];
    token.role = role;
    token.hash = access::hash_of("smd_" + name);
    if (role == access::Role::tenant) token.partitions = {"blue"};
  }
  void revoke(const std::string& name) {
    change_tokens([&](auto& tokens) { tokens.erase(name); });
  }
  void set_partitions(const std::string& token, std::vector<std::string> partitions) {
    change_tokens([&](auto& tokens) { tokens[token].partitions = std::move(partitions); });
  }
  template <class Fn>
  void change_tokens(Fn fn) {
    auto view = *backend_.views[0];
    auto policy_state = std::make_shared<api::PolicyState>(*view.policy_state);
    auto policies = std::make_shared<policy::Policies>(*policy_state->policies);
    fn(policies->tokens);
    policy_state->policies = policies;
    view.policy_state = policy_state;
    backend_.views[0] = std::make_shared<api::SubnetView>(view);
  }
  void publish(const std::string& name, std::vector<log::Field> fields, const std::string& subnet = "up",
               events::MembersOf members = {}) {
    backend_.ring.publish(subnet,
                          events::log_event_of({.event = name, .subnet = subnet, .fields = std::move(fields)},
                                               std::move(members)));
  }
  void gone(Guid node, const std::string& name, std::optional<std::vector<std::string>> partitions = {}) {
    publish("node.gone", {{"guid", fmt::format("{}", node), false}, {"name", name, false}}, "up",
            {.end = std::move(partitions), .peer = {}});
  }
  void link_down(Guid end, Guid peer) {
    publish("link.down", {{"guid", fmt::format("{}", end), false},
                          {"name", "near", false},
                          {"port", "1", true},
                          {"peer_guid", fmt::format("{}", peer), false},
                          {"peer_name", "far", false},
                          {"peer_port", "1", true},
                          {"cause", "the peer of far", false}});
  }
  api::Request request(const std::string& token, std::string target) {
    api::Request made{
        .method = "GET", .target = std::move(target), .body = {}, .authorization = "Bearer smd_" + token};
    made.peer = {.local = token.empty(), .address = "10.0.0.1", .user = {}};
    made.time = 1000;
    return made;
  }
  boost::json::value page(const std::string& token, std::string target = "/v1/subnets/up/events") {
    const auto answer = api::answer(request(token, std::move(target)), backend_);
    EXPECT_EQ(answer.status, 200U) << answer.body;
    return api::parse_json(answer.body).value_or(boost::json::value());
  }
  std::shared_ptr<api::Stream> stream(const std::string& token, std::string target = "/v1/subnets/up/events",
                                      std::string last = {}) {
    auto asked = request(token, std::move(target));
    asked.accept = "text/event-stream";
    asked.last_event_id = std::move(last);
    const auto answer = api::answer(asked, backend_);
    EXPECT_EQ(answer.status, 200U) << answer.body;
    EXPECT_EQ(answer.type, "text/event-stream");
    return answer.stream;
  }

  Guid own_, foreign_;
  test::FakeBackend backend_;
};

/// Only so many events are looked through: the latest ones.
TEST_F(ApiEvents, WhySaysWhatHappenedLastHoweverMuchHasHappenedBefore) {
  const auto why = [&](const std::string& what) { return page({}, "/v1/subnets/up/why?" + what); };
  const auto disable = [&](Guid node) {
    publish("port.disabled", {{"guid", fmt::format("{}", node), false}, {"port", "1", true}});
  };
  for (int i = 0; i < 10'001; ++i) disable(foreign_);
  disable(own_);
  EXPECT_EQ(why("port=h00001").at("events").as_array().size(), 1U);
  for (int i = 0; i < 10'001; ++i) publish("api.call", {{"by", "backup", false}, {"status", "200", true}});
  EXPECT_EQ(why("port=h00001").at("events").as_array().size(), 1U) << "these name no port";

  gone(Guid{0xaa}, "h7");
  for (int i = 0; i < 10'001; ++i) disable(foreign_);
  EXPECT_EQ(why("node=h7").at("lost").at("accepted"), true);
}

TEST_F(ApiEvents, ATenantSeesItsOwnEndOfALinkAndNoOther) {
  const Guid other{0x77};
  link_down(own_, other);
  link_down(other, own_);
  link_down(foreign_, other);
  publish("partition.changed",
          {{"partition", "blue", false}, {"change", "add", false}, {"by", "boss", false}});
  publish("partition.changed", {{"partition", "red", false}, {"change", "add", false}});
  publish("sm.state", {{"from", "standby", false}, {"to", "master", false}});
  publish("config.reloaded", {{"file", "/etc/x", false}}, "");

  const auto seen = page("tenant");
  ASSERT_EQ(seen.at("events").as_array().size(), 3U) << seen;
  for (int i = 0; i < 2; ++i) {
    const auto& fields = seen.at("events").at(static_cast<std::size_t>(i)).at("fields").as_object();
    EXPECT_EQ(fields.at("guid"), boost::json::string(fmt::format("{}", own_))) << seen;
    EXPECT_EQ(fields.at("name"), i == 0 ? "near" : "far") << "its own";
    EXPECT_EQ(fields.size(), 3U) << "nothing of the other end: " << seen;
  }
  EXPECT_FALSE(seen.at("events").at(2).at("fields").as_object().contains("by"));
  EXPECT_EQ(page("tenant", "/v1/events").at("events").as_array().size(), 3U);
  EXPECT_EQ(page("viewer").at("events").as_array().size(), 6U);
  EXPECT_EQ(page("viewer", "/v1/events").at("events").as_array().size(), 7U) << "those of the process too";
}

/// Of a tenant with thousands of members each search takes milliseconds, and streams look all the time.
TEST_F(ApiEvents, AStreamLooksForNothingWhereNothingHasHappened) {
  for (const auto* token : {"tenant", "viewer"}) {
    link_down(own_, foreign_);
    const auto follows = stream(token);
    follows->next(1000, false);
    EXPECT_EQ(follows->next(1000, false), "");
    unsigned searches = 0;
    backend_.at_search = [&] { ++searches; };
    EXPECT_EQ(follows->next(1000, false), "");
    EXPECT_EQ(searches, 0U) << token;
    link_down(own_, foreign_);
    EXPECT_THAT(*follows->next(1000, false), HasSubstr("event: link.down"));
    EXPECT_GT(searches, 0U);
    backend_.at_search = nullptr;
  }
}

TEST_F(ApiEvents, AStreamBeginsNowOrWithTheLatestOrAfterAnId) {
  for (int i = 0; i < 3; ++i) publish("link.up", {{"n", std::to_string(i), true}});
  const auto now = stream("viewer"), latest = stream("viewer", "/v1/subnets/up/events?limit=1");
  const auto begin = *now->next(1000, false);
  const auto last = std::string(page("viewer").at("next").as_string());
  EXPECT_EQ(begin, "retry: 2000\n\nid: " + last + "\n\n") << "from here it goes on after a break";
  const auto first = *latest->next(1000, false);
  EXPECT_THAT(first, StartsWith("retry: 2000\n\nid: "));
  EXPECT_THAT(first, HasSubstr("\nevent: link.up\ndata: {\"id\":\""));
  EXPECT_THAT(first, HasSubstr("\"fields\":{\"n\":2}"));
  EXPECT_THAT(first, Not(HasSubstr("\"n\":1")));
  EXPECT_EQ(now->next(1000, false), "") << "nothing is there yet";
  publish("link.down", {});
  EXPECT_THAT(*now->next(1000, false), HasSubstr("event: link.down"));
  EXPECT_EQ(now->next(1000, false), "");
  EXPECT_THAT(*now->next(1000, true), StartsWith(": alive\nid: ")) << "the client sees that it is alive";

  const auto all = page("viewer");
  const std::string second(all.at("events").at(1).at("id").as_string());
  const auto resumed = stream("viewer", "/v1/subnets/up/events?since=1-1", second);
  resumed->next(1000, false);
  const auto rest = *resumed->next(1000, false);
  EXPECT_THAT(rest, HasSubstr("\"n\":2"));
  EXPECT_THAT(rest, HasSubstr("event: link.down"));
  EXPECT_THAT(rest, Not(HasSubstr("\"n\":1"))) << "Last-Event-ID counts more than since";
  const auto lost = stream("viewer", "/v1/subnets/up/events?since=7-1");
  lost->next(1000, false);
  EXPECT_THAT(*lost->next(1000, false), HasSubstr("event: gap\n")) << "what is gone is said";
}

TEST_F(ApiEvents, NoNameBreaksTheFrame) {
  publish("node.new", {{"name", "a\n\nevent: x\ndata: \"<b>\x1b[0m\xff", false}});
  const auto follows = stream("viewer", "/v1/subnets/up/events?limit=1");
  const auto piece = *follows->next(1000, false);
  EXPECT_THAT(piece, Not(HasSubstr("\nevent: x")));
  EXPECT_THAT(piece, Not(HasSubstr("\x1b")));
  EXPECT_THAT(piece, Not(HasSubstr("\xff")));
  const auto data = piece.substr(piece.find("data: ") + 6);
  EXPECT_TRUE(api::parse_json(data)) << piece;
}

TEST_F(ApiEvents, AStreamEndsWithItsTokenAndWithItsSubnet) {
  const auto viewer = stream("viewer"), tenant = stream("tenant"), local = stream("");
  EXPECT_TRUE(viewer->next(1000, false));
  EXPECT_TRUE(tenant->next(1000, false));
  revoke("viewer");
  EXPECT_FALSE(viewer->next(1000, false));
  EXPECT_TRUE(tenant->next(1000, false)) << "another token";
  EXPECT_TRUE(local->next(1000, false));
  backend_.views.clear();
  EXPECT_FALSE(local->next(1000, false)) << "there is no such subnet any more";
}

using Names = std::vector<std::string>;

TEST_F(ApiEvents, ATenantSeesItsPortGo) {
  const auto follows = stream("tenant");
  EXPECT_TRUE(follows->next(1000, false));
  gone(own_, "h00001", Names{"Default", "blue"});
  gone(foreign_, "h00002", Names{"red"});
  auto view = *backend_.views[0];
  auto snapshot = std::make_shared<sm::Snapshot>(*view.snapshot);
  snapshot->decided.partitions = nullptr;
  view.snapshot = snapshot;
  backend_.views[0] = std::make_shared<api::SubnetView>(view);
  const auto piece = *follows->next(1000, false);
  EXPECT_THAT(piece, HasSubstr("h00001"));
  EXPECT_THAT(piece, Not(HasSubstr("h00002")));
  const auto seen = page("tenant").at("events");
  ASSERT_EQ(seen.as_array().size(), 1U) << "who reads in pages sees it too: " << seen;
  EXPECT_EQ(seen.at(0).at("fields").at("name"), "h00001");
}

TEST_F(ApiEvents, ATenantSeesOfAPortWhatHappenedWhileItWasIts) {
  gone(own_, "before", Names{"red"});
  gone(own_, "own", Names{"blue"});
  gone(foreign_, "lent", Names{"blue"});
  gone(own_, "as now");
  const auto seen = page("tenant").at("events");
  ASSERT_EQ(seen.as_array().size(), 3U) << seen;
  EXPECT_EQ(seen.at(0).at("fields").at("name"), "own");
  EXPECT_EQ(seen.at(1).at("fields").at("name"), "lent");
  EXPECT_EQ(seen.at(2).at("fields").at("name"), "as now")
      << "its partitions are not known: those of now count";
}

TEST_F(ApiEvents, AChangeByThePKeyIsOneOfThePartitionsName) {
  const auto add = [&](std::string target, std::string body) {
    auto made = request("", std::move(target));
    made.method = "POST";
    made.body = std::move(body);
    const auto answer = api::answer(made, backend_);
    EXPECT_LT(answer.status, 300U) << answer.body;
  };
  add("/ufmRest/resources/pkeys/add", R"({"pkey": "0x44"})");
  const auto* made = backend_.views[0]->policy_state->merged->find(PKey{0x44});
  ASSERT_NE(made, nullptr);
  const auto name = made->name;  // the next change replaces the policy
  add("/ufmRest/resources/pkeys", R"({"pkey": "0x44", "guids": ["0000000000000077"]})");
  EXPECT_THAT(backend_.partitions_changed, testing::ElementsAre(name, name));
}

TEST_F(ApiEvents, ATenantSeesTheNumberOfATrapOfItsPort) {
  publish("trap", {{"guid", fmt::format("{}", own_), false},
                   {"name", "near", false},
                   {"port", "1", true},
                   {"trap", "144", true},
                   {"trap_name", "capability mask or other local change", false},
                   {"details", "what the notice says", false}});

  const auto seen = page("tenant").at("events").at(0).at("fields");

  EXPECT_EQ(seen.at("trap"), 144);
  EXPECT_TRUE(seen.as_object().contains("trap_name"));
  EXPECT_FALSE(seen.as_object().contains("details")) << "which names other nodes";
}

TEST_F(ApiEvents, SinceTakesATimeToo) {
  publish("link.up", {{"n", "1", true}});
  publish("link.down", {{"n", "2", true}});
  for (const auto* since : {"1h", "1d2h", "2020-01-01", "2020-01-01T10:00:00Z"}) {
    const auto found = page("viewer", std::string("/v1/subnets/up/events?since=") + since);
    EXPECT_EQ(found.at("events").as_array().size(), 2U) << since;
    const auto begun = stream("viewer", std::string("/v1/subnets/up/events?since=") + since);
    EXPECT_THAT(*begun->next(1000, false), AllOf(HasSubstr("\"n\":1"), HasSubstr("\"n\":2"))) << since;
  }
  const auto later = page("viewer", "/v1/subnets/up/events?since=2199-01-01T00:00:00Z");
  EXPECT_TRUE(later.at("events").as_array().empty());
}

/// Whether that is answered without an end depends on the type, not on its letters.
TEST_F(ApiEvents, OnlyTheTypeOfEventsIsAStream) {
  for (const auto& [accept, streams] :
       std::map<std::string, bool>{{"text/event-stream", true},
                                   {"application/json, Text/Event-Stream;q=0.5", true},
                                   {"text/event-stream ; charset=utf-8", true},
                                   {"text/event-stream-x", false},
                                   {"x-text/event-stream", false},
                                   {"text/event-stream;q=0, */*", false},
                                   {"*/*", false}}) {
    auto asked = request("viewer", "/v1/events");
    asked.accept = accept;
    EXPECT_EQ(api::answer(asked, backend_).stream != nullptr, streams) << accept;
  }
}

TEST_F(ApiEvents, WrongQuestionsAreRefused) {
  for (const auto* target :
       {"/v1/events?since=x", "/v1/events?limit=0", "/v1/events?limit=10001", "/v1/events?since=1",
        "/v1/events?since=2026-02-30", "/v1/events?since=2026-11-29T25:00"})
    EXPECT_EQ(api::answer(request("viewer", target), backend_).status, 400U) << target;
  auto bad = request("viewer", "/v1/events");
  bad.accept = "text/event-stream";
  bad.last_event_id = "1-2-3";
  EXPECT_EQ(api::answer(bad, backend_).status, 400U);
  EXPECT_THAT(page("viewer", "/v1/subnets/up/events?match=none.*").at("events").as_array(), IsEmpty());
}

TEST_F(ApiEvents, AStreamThatBreaksBeforeItsFirstEventGoesOn) {
  const std::string target = "/v1/subnets/up/events";
  for (const auto* token : {"viewer", "tenant"}) {
    gone(own_, "before", Names{"blue"});
    const auto begin = *stream(token, target)->next(1000, false);
    const auto at = begin.find("\nid: ");
    ASSERT_NE(at, std::string::npos) << begin;
    const auto id = begin.substr(at + 5, begin.find('\n', at + 5) - (at + 5));
    gone(own_, "meanwhile", Names{"blue"});

    const auto again = stream(token, target, id);

    again->next(1000, false);
    const auto missed = *again->next(1000, false);
    EXPECT_THAT(missed, HasSubstr("meanwhile")) << token;
    EXPECT_THAT(missed, Not(HasSubstr("before"))) << token;
  }
}

/// Neither in `next` nor in the ETag, which is of the whole answer: what happens elsewhere is not its own.
TEST_F(ApiEvents, WhatATenantDoesNotSeeMovesNoCursor) {
  publish("node.seen", {}, "other");
  const auto asked = [&](const std::string& target) {
    const auto answer = api::answer(request("tenant", target), backend_);
    EXPECT_EQ(answer.status, 200U) << answer.body;
    for (const auto& [name, value] : answer.headers) {
      if (name == "ETag") return value;
    }
    return std::string();
  };
  const auto next = [&](const std::string& token, const std::string& target) {
    return std::string(page(token, target).at("next").as_string());
  };
  const std::string events = "/v1/subnets/up/events";
  const auto none = next("tenant", events);
  EXPECT_EQ(page("tenant", events + "?since=" + none).at("gap"), false);
  const auto follows = stream("tenant", events, none);
  follows->next(1000, false);
  EXPECT_EQ(follows->next(1000, false), "") << "nor is there a gap in a stream";
  gone(own_, "h00001");
  const auto first = next("tenant", events + "?since=" + none);
  EXPECT_NE(first, none);
  std::map<std::string, std::string> tags;
  for (const auto& target :
       {events, events + "?limit=3&match=link.*", events + "?since=1h", events + "?since=" + first,
        events + "?since=" + none, std::string("/v1/events"), std::string("/v1/subnets/up/changes")}) {
    tags[target] = asked(target);
    EXPECT_NE(tags[target], "") << target;
  }
  const auto of_viewer = next("viewer", events);

  gone(foreign_, "h00002");
  publish("node.seen", {}, "other");

  for (const auto& [target, tag] : tags) EXPECT_EQ(asked(target), tag) << target;
  EXPECT_EQ(next("tenant", events + "?match=link.*"), first) << "the latest that it sees";
  EXPECT_NE(next("viewer", events), of_viewer);
  gone(own_, "h00001");
  EXPECT_EQ(page("tenant", events + "?since=" + first).at("events").as_array().size(), 1U);
}

/// However much has happened elsewhere meanwhile: a piece without an event ends what is there.
TEST_F(ApiEvents, AStreamThatGoesOnIsNotHeldUpByWhatItsReaderDoesNotSee) {
  gone(own_, "h00001");
  const std::string last(page("tenant").at("next").as_string());
  for (int i = 0; i < 600; ++i) gone(foreign_, "h00002", Names{"red"});
  gone(own_, "meanwhile", Names{"blue"});

  const auto again = stream("tenant", "/v1/subnets/up/events", last);

  again->next(1000, false);
  EXPECT_THAT(*again->next(1000, false), HasSubstr("meanwhile"));
  EXPECT_EQ(*again->next(1000, false), "");
}

/// An event counts by the partitions of now where those of then are not known.
TEST_F(ApiEvents, WhatAPageDidNotHaveItHasWhenTheTenantSeesMore) {
  gone(own_, "h00001");
  const std::string last(page("tenant").at("next").as_string());
  gone(foreign_, "h00002");
  const auto missed = [&] {
    return page("tenant", "/v1/subnets/up/events?since=" + last).at("events").as_array().size();
  };
  EXPECT_EQ(missed(), 0U);
  EXPECT_EQ(missed(), 0U);

  set_partitions("tenant", {"blue", "red"});

  EXPECT_EQ(missed(), 1U);
}

/// The id of the line that says that a stream is alive.
TEST_F(ApiEvents, WhatATenantDoesNotSeeMovesNoCursorOfAStream) {
  const auto alive = [](api::Stream& of) { return *of.next(1000, true); };
  publish("node.seen", {}, "other");
  const auto begun = stream("tenant"), sees = stream("viewer");
  EXPECT_TRUE(begun->next(1000, false));
  EXPECT_TRUE(sees->next(1000, false));
  EXPECT_EQ(alive(*begun), ": alive\nid: 0-0\n\n");
  gone(own_, "h00001");
  const std::string own(page("tenant").at("next").as_string());
  EXPECT_TRUE(begun->next(1000, false));
  EXPECT_TRUE(sees->next(1000, false));
  const auto later = stream("tenant"), resumed = stream("tenant", "/v1/subnets/up/events", own);
  EXPECT_TRUE(later->next(1000, false));
  EXPECT_TRUE(resumed->next(1000, false));
  const auto of_viewer = alive(*sees);

  gone(foreign_, "h00002");
  publish("node.seen", {}, "other");

  for (const auto& one : {begun, later, resumed}) EXPECT_EQ(alive(*one), ": alive\nid: " + own + "\n\n");
  EXPECT_TRUE(sees->next(1000, false));
  EXPECT_NE(alive(*sees), of_viewer);
}

/// `next` of an empty page is found by a search of its own, up to where the page's has come.
TEST_F(ApiEvents, ATenantLosesNoEventThatComesWhileAPageIsMade) {
  gone(foreign_, "h00002");
  int searches = 0;
  backend_.at_search = [&] {
    if (++searches == 2)
      publish("partition.changed", {{"partition", "blue", false}, {"change", "add", false}});
  };
  const auto first = page("tenant", "/v1/subnets/up/events?since=2199-01-01T00:00:00Z");
  backend_.at_search = nullptr;
  ASSERT_EQ(searches, 3) << "what came meanwhile is not the answer's";
  const std::string next(first.at("next").as_string());
  const auto follows = page("tenant", "/v1/subnets/up/events?since=" + next);
  EXPECT_EQ(follows.at("events").as_array().size(), 1U) << next;
}

}  // namespace
}  // namespace smd
