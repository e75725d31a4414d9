// SPDX-License-Identifier: Apache-2.0
// What the API says of a host with two ports, and does to them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "mad/base/fabric_file.h"
#include "smd/api/json_in.h"
#include "smd/api/router.h"
#include "tests/support/api_backend.h"
#include "tests/support/dual_fabric.h"
#include "tests/support/json_schema.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

namespace json = boost::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

class ApiTwoPorts : public testing::Test {
 protected:
  ApiTwoPorts() {
    sim::World world(*base::read_fabric(test::kDualFabric, "dual.net"));
    test::Managed manager(world, {}, test::once());
    world.run(manager->run());
    snapshot_ = std::make_shared<sm::Snapshot>(manager.last());
    snapshot_->state = wire::SmState::master;
    auto policy_state = std::make_shared<api::PolicyState>();
    policy_state->config = std::make_shared<const config::SubnetConfig>();
    policy_state->policies = std::make_shared<const policy::Policies>();
    policy_state->merged = policy::merged_policy(*policy_state->config, *policy_state->policies);
    backend_.add({.name = "f", .port = "p", .snapshot = snapshot_, .policy_state = policy_state});
    document_ = test::api_document();
  }
  json::value ask(std::string method, const std::string& what, std::string_view schema,
                  unsigned status = 200) {
    const auto answer = api::answer({.method = std::move(method),
                                     .target = "/v1/subnets/f/" + what,
                                     .body = {},
                                     .peer = {.local = true, .user = "root"},
                                     .time = 1000},
                                    backend_);
    EXPECT_EQ(answer.status, status) << answer.body;
    auto value = api::parse_json(answer.body).value_or(json::value());
    const test::Schema schemas(document_);
    EXPECT_THAT(schemas.wrong(value, schemas.named(schema)), IsEmpty()) << answer.body;
    return value;
  }
  const sm::Node& node(std::string_view name) {
    return **std::ranges::find(snapshot_->subnet->nodes, name, &sm::Node::description);
  }
  /// As a sweep finds it: such a port of a host is not read.
  void cut(std::string_view host, std::size_t port) {
    const auto peer = *node(host).ports[port].peer;
    const sm::LinkEnd end{node(host).guid(), PortNum{static_cast<std::uint8_t>(port)}};
    auto inventory = std::make_shared<sm::Inventory>();
    for (const auto& one : snapshot_->subnet->nodes)
      inventory->put(one->guid(), {.type = one->info.type, .name = one->description});
    inventory->put(end, {.peer = {peer.node, peer.port}, .rate = {}, .up_since = 1, .lost_at = 100});
    auto subnet = std::make_shared<sm::Subnet>(*snapshot_->subnet);
    for (auto& one : subnet->nodes) {
      if (one->guid() != end.node) continue;
      auto edited = std::make_shared<sm::Node>(*one);
      edited->ports[port] = {};
      one = std::move(edited);
    }
    snapshot_->inventory = std::move(inventory);
    snapshot_->subnet = std::move(subnet);
  }

  test::FakeBackend backend_;
  std::shared_ptr<sm::Snapshot> snapshot_;
  json::value document_;
};

TEST_F(ApiTwoPorts, WhyOfAHostHasThePortWhoseLinkIsLost) {
  cut("d1", 1);

  const auto ports = ask("GET", "why?port=d1", "Why").at("ports").as_array();
  ASSERT_THAT(ports, SizeIs(2));
  EXPECT_EQ(ports[0].at("port"), 1);
  EXPECT_EQ(ports[0].at("lost").at("peer").at("name"), "leafA");
  EXPECT_THAT(std::string(ports[0].at("reason").as_string()), StartsWith("Down since 1970-"));
  EXPECT_EQ(ports[1].at("state"), "Active");
}

TEST_F(ApiTwoPorts, WhyOfAHostHasThePortThatIsDisabled) {
  cut("d1", 2);
  snapshot_->inventory = nullptr;
  snapshot_->disabled = std::make_shared<const policy::DisabledPorts>(
      policy::DisabledPorts{{{node("leafB").guid(), PortNum{2}},
                             {.peer = {node("d1").guid(), PortNum{2}}, .by = "root", .since = 1}}});

  const auto ports = ask("GET", "why?port=d1", "Why").at("ports").as_array();
  ASSERT_THAT(ports, SizeIs(2));
  EXPECT_EQ(ports[1].at("disabled").at("by"), "root");
}

/// Its other port cannot set it: it is reached by its own link alone.
TEST_F(ApiTwoPorts, EachIsDisabledAtItsSwitch) {
  for (const auto& [port, leaf] : {std::pair{"d1/1", "leafA"}, std::pair{"d1/2", "leafB"}}) {
    const auto order = ask("POST", std::string("ports/") + port + "/disable?dry_run=true", "PortOrder");
    EXPECT_EQ(order.at("at").at("name"), leaf);
    EXPECT_EQ(order.at("cut_off_count"), 0);
  }
  const auto own = ask("POST", "ports/h0/1/disable?dry_run=true", "PortOrder");
  EXPECT_EQ(own.at("at").at("name"), "h0") << "the end that is here";
}

/// The first one is down as soon as its order is kept.
TEST_F(ApiTwoPorts, TheSecondOneIsItsLast) {
  ask("POST", "ports/d1/1/disable", "PortOrder");
  const auto refused = ask("POST", "ports/d1/2/disable", "Error", 409);
  EXPECT_EQ(refused.at("code"), "needs_confirmation");
  EXPECT_THAT(std::string(refused.at("detail").as_string()), HasSubstr("d1"));
}

}  // namespace
}  // namespace smd
