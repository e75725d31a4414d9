// SPDX-License-Identifier: Apache-2.0
// Links and ports that change while a fabric is in operation, or on the way there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "smd/plan/plan.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

using std::chrono::seconds;
using test::Managed;

/// Links between switches that are down at a switch.
unsigned down_at(const sim::State& state, const sim::Node& node) {
  unsigned down = 0;
  for (unsigned number = 1; number <= node.ports; ++number) {
    const auto& port = state.port(node, number);
    if (port.peer == sim::kNowhere || !state.node_of(port.peer).is_switch()) continue;
    down += port.link_up() ? 0U : 1U;
  }
  return down;
}

TEST(Links, ThatComeUpAnewDoSoOneASwitchAtATimeAndNearOnesLast) {
  sim::World world(test::spec("ft2:4"));
  const auto& state = world.fabric().state();
  world.run_for(seconds(1));  // everything has a link
  unsigned most = 0;
  std::vector<std::string> order;
  world.fabric().watch_sets([&](const sim::DoneSet& set) {
    for (const auto& node : state.nodes) {
      if (node.is_switch()) most = std::max(most, down_at(state, node));
    }
    const auto& node = state.node_of(set.at);
    if (set.attribute != wire::PortInfo::kAttribute) return;
    const auto& port = state.port(node, set.modifier & 0xFF);
    if (port.number == PortNum{0} || port.peer == sim::kNowhere || port.link_up()) return;
    order.push_back(state.node_of(port.peer).name);
  });
  config::SubnetConfig config;
  config.links.speed = LinkSpeed::qdr;
  Managed manager(world, config, test::once());

  world.run(manager->run());
  world.fabric().watch_sets(nullptr);

  EXPECT_EQ(manager.last().summary.state, sm::SweepState::up) << testing::PrintToString(manager.lines().all);
  for (const auto& port : state.ports) {
    if (port.peer != sim::kNowhere) EXPECT_EQ(port.info.link_speed_ext_active, 0U);
  }
  EXPECT_EQ(most, 1U);
  ASSERT_FALSE(order.empty());
  EXPECT_EQ(order.back(), "leaf000") << testing::PrintToString(order);
}

TEST(Links, BothEndsOfALinkInOperationAreSetSideBySide) {
  sim::World world(test::spec("ft2:8"));
  Managed manager(world, {}, test::once());
  world.run(manager->run());
  config::SubnetConfig config;
  config.links.mtu = Mtu::m1024;
  const auto& subnet = *manager.last().subnet;
  routing::Serial serial;
  const sm::Stored stored;
  const auto decision = sm::decide({.subnet = subnet,
                                    .config = config,
                                    .stored = stored,
                                    .previous = &manager.last().decided,
                                    .parallel = serial});
  ASSERT_TRUE(decision);

  const auto plan = sm::plan({subnet, decision->decided, config}, serial);

  std::size_t links = 0;
  for (const auto& round : plan.rounds) {
    ASSERT_EQ(round.ports.size() % 2, 0U);
    for (std::size_t i = 0; i < round.ports.size(); i += 2) {
      const auto& one = round.ports[i];
      const auto& other = round.ports[i + 1];
      const auto& peer = subnet.nodes[one.node]->ports[one.port.value()].peer;
      ASSERT_TRUE(peer);
      EXPECT_EQ(peer->node, subnet.nodes[other.node]->guid());
      EXPECT_EQ(peer->port, other.port);
      ++links;
    }
  }
  EXPECT_EQ(links, manager.last().summary.links);
}

TEST(Links, AnEnhancedPort0IsTakenToActive) {
  auto fabric = test::spec("ft2:4");
  for (auto& node : fabric.nodes) node.enhanced_port0 = node.type == NodeType::switch_;
  sim::World world(fabric);
  Managed manager(world, {}, test::once());

  world.run(manager->run());

  EXPECT_EQ(manager.last().summary.state, sm::SweepState::up);
  for (const auto* name : {"leaf000", "leaf003", "spine001"})
    EXPECT_EQ(world.fabric().port_info({name, PortNum{0}})->port_state, PortState::active) << name;
}

}  // namespace
}  // namespace smd
