// SPDX-License-Identifier: Apache-2.0
// The API's calls on ports: what is cut off is confirmed, what is disabled is kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <string>
#include <vector>

#include "smd/api/json_in.h"
#include "smd/api/router.h"
#include "tests/support/api_backend.h"
#include "tests/support/changeable_subnet.h"
#include "tests/support/json_schema.h"

namespace smd {
namespace {

namespace json = boost::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A subnet "p" of ft2:4.
class ApiPorts : public testing::Test {
 protected:
  ApiPorts() : now_(test::add_changeable_subnet(backend_)) { document_ = test::api_document(); }
  json::value call(const std::string& port, const std::string& action, unsigned status, std::string body = {},
                   std::string tag = {}) {
    const auto answer = api::answer({.method = "POST",
                                     .target = "/v1/subnets/p/ports/" + port + "/" + action,
                                     .body = std::move(body),
                                     .peer = {.local = true, .user = "root"},
                                     .time = 1000,
                                     .if_match = std::move(tag)},
                                    backend_);
    EXPECT_EQ(answer.status, status) << port << " " << action << ": " << answer.body;
    auto value = api::parse_json(answer.body).value_or(json::value());
    const test::Schema schemas(document_);
    EXPECT_THAT(schemas.wrong(value, schemas.named(status < 300 ? "PortOrder" : "Error")), IsEmpty())
        << answer.body;
    return value;
  }
  const policy::DisabledPorts& disabled() {
    return backend_.views.back()->policy_state->policies->disabled_ports;
  }
  /// "GUID/NUMBER" of the ports of this switch with a link to a switch.
  std::vector<std::string> uplinks(const sm::Node& node) {
    std::vector<std::string> ports;
    for (std::size_t p = 1; node.is_switch() && p < node.ports.size(); ++p) {
      const auto& peer = node.ports[p].peer;
      const auto* far = peer ? now_->subnet->find(peer->node) : nullptr;
      if (far != nullptr && far->is_switch()) ports.push_back(fmt::format("{}/{}", node.guid(), p));
    }
    return ports;
  }
  std::string uplink() {
    for (const auto& node : now_->subnet->nodes) {
      if (const auto ports = uplinks(*node); !ports.empty()) return ports.front();
    }
    return {};
  }
  /// Both of the leaf of this SM's host.
  std::vector<std::string> own_uplinks() {
    const auto& own = now_->subnet->find(now_->subnet->sm_node)->ports[now_->subnet->sm_port.value()];
    return uplinks(*now_->subnet->find(own.peer->node));
  }
  /// The body that disables this port, whatever that cuts off.
  std::string confirmed(const std::string& port) {
    const auto dry = call(port, "disable", 200, R"({"dry_run": true})");
    return json::serialize(json::object{{"confirm", dry.at("confirm")}});
  }
  std::string etag() {
    const auto answer = api::answer({.method = "GET",
                                     .target = "/v1/subnets/p/nodes",
                                     .body = {},
                                     .peer = {.local = true, .user = "root"}},
                                    backend_);
    for (const auto& [name, value] : answer.headers) {
      if (name == "ETag") return value;
    }
    return {};
  }
  /// The same of port 1 of a switch, whose cable is pulled.
  std::string unplugged() {
    auto subnet = std::make_shared<sm::Subnet>(*now_->subnet);
    const auto at = std::ranges::find_if(subnet->nodes, [](const auto& node) { return node->is_switch(); });
    auto node = std::make_shared<sm::Node>(**at);
    node->ports[1].peer.reset();
    node->ports[1].info.port_state = PortState::down;
    const auto guid = node->guid();
    *at = std::move(node);
    auto view = *backend_.views.back();
    auto snapshot = std::make_shared<sm::Snapshot>(*view.snapshot);
    snapshot->subnet = std::move(subnet);
    view.snapshot = std::move(snapshot);
    backend_.views.back() = std::make_shared<api::SubnetView>(view);
    return fmt::format("{}/1", guid);
  }

  test::FakeBackend backend_;
  std::shared_ptr<sm::Snapshot> now_;
  json::value document_;
};

TEST_F(ApiPorts, AHostsLastPortIsConfirmedAndDisabledAtItsSwitch) {
  const auto dry = call("h00001/1", "disable", 200, R"({"dry_run": true})");
  EXPECT_EQ(dry.at("cut_off_count"), 1);
  EXPECT_EQ(dry.at("cut_off").at(0).at("name"), "h00001");
  EXPECT_NE(dry.at("at"), dry.at("port")) << "where it can be enabled again";
  EXPECT_EQ(dry.at("peer"), dry.at("port"));
  EXPECT_THAT(disabled(), IsEmpty());
  const auto refused = call("h00001/1", "disable", 409);
  EXPECT_EQ(refused.at("code"), "needs_confirmation");
  EXPECT_THAT(std::string(refused.at("detail").as_string()), HasSubstr("h00001"));
  call("h00001/1", "disable", 409, R"({"confirm": "wrong"})");
  const auto body = json::serialize(json::object{{"confirm", dry.at("confirm")}});
  EXPECT_EQ(call("h00002/1", "disable", 409, body).at("code"), "needs_confirmation") << "of another port";

  EXPECT_EQ(call("h00001/1", "disable", 200, body).at("changed"), true);
  ASSERT_THAT(disabled(), SizeIs(1));
  EXPECT_EQ(disabled().begin()->second.by, "root");
  EXPECT_EQ(disabled().begin()->second.since, 1000);
  EXPECT_EQ(call("h00001/1", "disable", 200).at("changed"), false) << "by either end";
  EXPECT_EQ(call("h00001/1", "reset", 409).at("code"), "disabled");

  EXPECT_EQ(call("h00001/1", "enable", 200, R"({"dry_run": true})").at("changed"), true);
  EXPECT_THAT(backend_.trained, IsEmpty());
  const auto at = disabled().begin()->first;
  call("h00001/1", "enable", 200);
  EXPECT_THAT(disabled(), IsEmpty());
  ASSERT_THAT(backend_.trained, SizeIs(1));
  EXPECT_EQ(backend_.trained[0].first, at);
  EXPECT_EQ(call("h00001/1", "enable", 200).at("changed"), false);
  EXPECT_THAT(backend_.trained, SizeIs(1));
}

TEST_F(ApiPorts, ALinkWithAWayRoundNeedsNoConfirmation) {
  const auto port = uplink();
  const auto order = call(port, "disable", 200);
  EXPECT_EQ(order.at("cut_off_count"), 0);
  EXPECT_EQ(order.at("confirm"), nullptr);
  EXPECT_THAT(disabled(), SizeIs(1));
  EXPECT_EQ(call(unplugged(), "disable", 200).at("peer"), nullptr) << "before a cable comes";
}

/// No sweep has seen yet that the first one is down.
TEST_F(ApiPorts, TheLastOfSeveralLinksIsConfirmed) {
  const auto links = own_uplinks();
  ASSERT_THAT(links, SizeIs(2));
  EXPECT_EQ(call(links[0], "disable", 200).at("cut_off_count"), 0);

  const auto dry = call(links[1], "disable", 200, R"({"dry_run": true})");
  EXPECT_EQ(dry.at("cut_off_count"), now_->subnet->nodes.size() - 3) << "all but the leaf and its hosts";
  EXPECT_EQ(dry.at("at"), dry.at("port")) << "the end that is reached";
  EXPECT_EQ(call(links[1], "disable", 409).at("code"), "needs_confirmation");
  EXPECT_THAT(disabled(), SizeIs(1));
  call(links[1], "disable", 200, confirmed(links[1]));
  EXPECT_THAT(disabled(), SizeIs(2));
  EXPECT_EQ(call("h00001/1", "reset", 200, R"({"dry_run": true})").at("cut_off_count"), 1);
  EXPECT_EQ(call("h00007/1", "reset", 200, R"({"dry_run": true})").at("cut_off_count"), 0) << "it is already";
}

/// Each is harmless without the other.
TEST_F(ApiPorts, OfTwoCallsAtOnceTheSecondIsDecidedByTheFirst) {
  const auto links = own_uplinks();
  ASSERT_THAT(links, SizeIs(2));
  backend_.meanwhile = [&] { call(links[0], "disable", 200); };
  EXPECT_EQ(call(links[1], "disable", 409).at("code"), "needs_confirmation");
  EXPECT_THAT(disabled(), SizeIs(1));

  backend_.meanwhile = [&] { call(links[0], "enable", 200); };
  EXPECT_EQ(call(links[0], "enable", 200).at("changed"), false) << "another call has";
  EXPECT_THAT(disabled(), IsEmpty());
}

TEST_F(ApiPorts, OfTwoCallsByTheSameStateOneIsMade) {
  const auto tag = etag();
  ASSERT_NE(tag, "");
  backend_.meanwhile = [&] { call("h00001/1", "disable", 200, confirmed("h00001/1"), tag); };
  EXPECT_EQ(call(uplink(), "disable", 412, {}, tag).at("code"), "changed");
  EXPECT_THAT(disabled(), SizeIs(1));
  EXPECT_EQ(call(uplink(), "disable", 200, {}, etag()).at("changed"), true);
}

/// All of the fabric is behind it, this SM's host apart.
TEST_F(ApiPorts, TheSmsOwnLinkIsConfirmed) {
  const auto own = fmt::format("{}/1", now_->subnet->sm_node);
  const auto dry = call(own, "disable", 200, R"({"dry_run": true})");
  EXPECT_EQ(dry.at("cut_off_count"), now_->subnet->nodes.size() - 1);
  EXPECT_EQ(dry.at("at"), dry.at("port")) << "the end that is here";
  call(own, "disable", 409);
}

TEST_F(ApiPorts, AResetIsAskedForOnce) {
  call("h00001/1", "reset", 200, R"({"dry_run": true})");
  EXPECT_THAT(backend_.trained, IsEmpty());
  EXPECT_EQ(call("h00001/1", "reset", 202).at("cut_off_count"), 1) << "while it trains";
  ASSERT_THAT(backend_.trained, SizeIs(1));
  EXPECT_EQ(backend_.trained[0].second, "port.reset");
  EXPECT_THAT(disabled(), IsEmpty());
}

TEST_F(ApiPorts, ADryRunMayBeAskedForInTheQuery) {
  EXPECT_EQ(call("h00001/1", "reset?dry_run=true", 200).at("dry_run"), true);
  EXPECT_EQ(call("h00001/1", "reset?dry_run=true", 200, "{}").at("dry_run"), true);
  for (const auto* blank : {" ", "\r\n"})
    EXPECT_EQ(call("h00001/1", "reset?dry_run=true", 200, blank).at("dry_run"), true) << "no body either";
  EXPECT_THAT(backend_.trained, IsEmpty());
  EXPECT_EQ(call("h00001/1", "reset?dry_run=true", 400, R"({"dry_run": false})").at("code"), "bad_body");
  for (const auto* query : {"dry_run=1", "dryrun=true", "dry_run=true&dry_run=true", "dry-run=true"})
    EXPECT_EQ(call("h00001/1", std::string("reset?") + query, 400).at("code"), "bad_query") << query;
  EXPECT_THAT(backend_.trained, IsEmpty());
}

/// A foreign host may take any name.
TEST_F(ApiPorts, ANameOfTwoNodesNamesNone) {
  auto subnet = std::make_shared<sm::Subnet>(*now_->subnet);
  for (auto& node : subnet->nodes) {
    if (node->description != "h00002") continue;
    auto renamed = std::make_shared<sm::Node>(*node);
    renamed->description = "h00001";
    node = std::move(renamed);
  }
  auto view = *backend_.views.back();
  auto snapshot = std::make_shared<sm::Snapshot>(*view.snapshot);
  snapshot->subnet = std::move(subnet);
  view.snapshot = std::move(snapshot);
  backend_.views.back() = std::make_shared<api::SubnetView>(view);
  for (const auto* action : {"disable", "enable", "reset"})
    EXPECT_EQ(call("h00001/1", action, 409).at("code"), "ambiguous") << action;
  EXPECT_THAT(backend_.trained, IsEmpty());
}

TEST_F(ApiPorts, WhatCannotBeIsSaid) {
  EXPECT_EQ(call("h00001/0", "disable", 400).at("code"), "bad_port");
  EXPECT_EQ(call("h00001/9", "disable", 404).at("code"), "no_such_port");
  call("none/1", "disable", 404);
  call("h00001/1", "disable", 400, R"({"dry": true})");
  call("h00001/1", "disable", 400, "[]");
  EXPECT_EQ(call(unplugged(), "reset", 409).at("code"), "no_link");
  auto view = *backend_.views.back();
  auto standby = std::make_shared<sm::Snapshot>(*view.snapshot);
  standby->state = wire::SmState::standby;
  view.snapshot = standby;
  backend_.views.back() = std::make_shared<api::SubnetView>(view);
  EXPECT_EQ(call("h00001/1", "disable", 409).at("code"), "not_master");
}

}  // namespace
}  // namespace smd
