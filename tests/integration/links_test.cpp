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
unsigned ports_down_at(const sim::State& state, const sim::Node& node) {
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
      if (node.is_switch()) most = std::max(most, ports_down_at(state, node));
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

  const auto plan = sm::plan({subnet, decision->decided}, serial);

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
  const auto port = world.fabric().port_info({"spine001", PortNum{0}});
  EXPECT_EQ(port->neighbor_mtu, port->mtu_cap);
  EXPECT_EQ(port->operational_vls, port->vl_cap);
  EXPECT_EQ(port->local_phy_errors, 8);
  EXPECT_EQ(port->overrun_errors, 8);
}

/// Hosts' LIDs that the switch holds an entry for with this port.
unsigned entries_with(const sim::State& state, std::string_view name, std::uint8_t port) {
  const auto& sw = *state.nodes[*sim::find_node(state, name)].sw;
  unsigned count = 0;
  for (const auto& node : state.nodes) {
    if (node.is_switch()) continue;
    const auto lid = state.port(node, 1).info.lid.value();
    count += lid < sw.lft.size() && sw.lft[lid] == port ? 1U : 0U;
  }
  return count;
}

TEST(Links, ThatComeUpWithLessThanBeforeGetFewerRoutes) {
  sim::World world(test::spec("ft2:8"));
  const auto& state = world.fabric().state();
  config::SubnetConfig config;
  config.routing.converge_after = seconds(5);
  Managed manager(world, config);
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(manager->run());
  world.run_for(seconds(30));
  const auto whole = state.nodes[*sim::find_node(state, "leaf000")].sw->lft;
  ASSERT_EQ(entries_with(state, "leaf000", 5), 7U);  // 28 hosts elsewhere, 4 cables

  ASSERT_TRUE(world.fabric().faults().link_rate({"leaf000", PortNum{5}}, LinkWidth::x1, LinkSpeed::unknown));
  world.run_for(seconds(60));

  const auto slow = entries_with(state, "leaf000", 5);
  EXPECT_GE(slow, 2U);  // a thirteenth of what leaves by 4x, 4x, 4x and 1x
  EXPECT_LE(slow, 3U);
  EXPECT_EQ(manager.last().summary.state, sm::SweepState::up);
  EXPECT_EQ(manager.last().decided.routes->origin, sm::RoutePart::Origin::fresh);
  EXPECT_TRUE(manager.last().decided.routes->verification.clean());

  ASSERT_TRUE(
      world.fabric().faults().link_rate({"leaf000", PortNum{5}}, LinkWidth::unknown, LinkSpeed::unknown));
  world.run_for(seconds(60));
  world.run(group.stop());

  EXPECT_EQ(state.nodes[*sim::find_node(state, "leaf000")].sw->lft, whole);
}

}  // namespace
}  // namespace smd
