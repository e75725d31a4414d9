// SPDX-License-Identifier: Apache-2.0
// Switches whose LinearFDBCap is too small for the LIDs of the fabric: what fits is routed, the rest stays
// down and is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/support/managed_world.h"

namespace smd {
namespace {

using test::Managed;

std::vector<std::string> names(const sim::Fabric& fabric, bool switches) {
  std::vector<std::string> found;
  for (const auto& node : fabric.state().nodes) {
    if (node.is_switch() == switches) found.push_back(node.name);
  }
  return found;
}

bool active(const sim::Fabric& fabric, const std::string& host) {
  const auto info = fabric.port_info({host, PortNum{1}});
  return info && info->port_state == PortState::active;
}

std::vector<std::string> active_hosts(const sim::Fabric& fabric) {
  std::vector<std::string> found;
  for (auto& host : names(fabric, false)) {
    if (active(fabric, host)) found.push_back(std::move(host));
  }
  return found;
}

/// Every host that is Active reaches every other one.
void expect_all_reach(const sim::Fabric& fabric, const std::vector<std::string>& hosts) {
  std::size_t failed = 0;
  for (const auto& to : hosts) {
    const auto lid = fabric.port_info({to, PortNum{1}})->lid;
    for (const auto& from : hosts) {
      if (from != to && !fabric.walk({from, PortNum{1}}, lid).delivered()) ++failed;
    }
  }
  EXPECT_EQ(failed, 0U) << "of " << hosts.size() << " hosts";
}

std::size_t named(const test::Lines& lines) { return lines.count("switch.small_table"); }

TEST(SmallTable, OfAllSwitchesHoldsWhatFitsHostsFirst) {
  sim::World world(test::spec("ft3:8"));
  for (const auto& name : names(world.fabric(), true)) world.fabric().faults().linear_fdb_cap(name, 100);
  Managed manager(world, {}, test::once());

  world.run(manager->run());

  const auto hosts = active_hosts(world.fabric());
  EXPECT_EQ(hosts.size(), 99U);
  expect_all_reach(world.fabric(), hosts);
  EXPECT_GT(manager.last().summary.lft_blocks, 0U);
  EXPECT_EQ(manager.last().summary.state, sm::SweepState::degraded);
  EXPECT_EQ(named(manager.lines()), 80U);
}

TEST(SmallTable, OfAllSwitchesWithMoreLidsAPort) {
  sim::World world(test::spec("ft2:8"));
  for (const auto& name : names(world.fabric(), true)) world.fabric().faults().linear_fdb_cap(name, 64);
  config::SubnetConfig config;
  config.lids.lmc = 2;
  Managed manager(world, config, test::once());

  world.run(manager->run());

  const auto hosts = active_hosts(world.fabric());
  EXPECT_EQ(hosts.size(), 15U);
  expect_all_reach(world.fabric(), hosts);
}

TEST(SmallTable, OfASpineIsRoutedRound) {
  sim::World world(test::spec("ft2:8"));
  world.fabric().faults().linear_fdb_cap("spine001", 20);
  Managed manager(world, {}, test::once());

  world.run(manager->run());

  const auto hosts = active_hosts(world.fabric());
  EXPECT_EQ(hosts.size(), 32U);
  expect_all_reach(world.fabric(), hosts);
  EXPECT_THAT(manager.lines().first("switch.small_table"), testing::HasSubstr("spine001"));
  EXPECT_EQ(named(manager.lines()), 1U);
}

TEST(SmallTable, OfALeafKeepsItsHostsDownAndNoOthers) {
  sim::World world(test::spec("ft2:8"));
  world.fabric().faults().linear_fdb_cap("leaf003", 20);
  Managed manager(world, {}, test::once());

  world.run(manager->run());

  const auto hosts = active_hosts(world.fabric());
  EXPECT_EQ(hosts.size(), 28U);
  expect_all_reach(world.fabric(), hosts);
  EXPECT_THAT(manager.lines().first("switch.small_table"), testing::HasSubstr("leaf003"));
}

TEST(SmallTable, OfAnySwitchesLetsNoPortGoActiveThatIsNotReached) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const auto* spec = std::vector{"ft2:8", "ft3:4", "torus:3x3:2", "dragonfly:2:1:1"}.at(
        static_cast<std::size_t>(round % 4));
    sim::World world(test::spec(spec));
    std::string caps;
    for (const auto& name : names(world.fabric(), true)) {
      if (random() % 3 == 0) continue;
      const auto cap = static_cast<std::uint16_t>(1 + random() % 60);
      world.fabric().faults().linear_fdb_cap(name, cap);
      caps += name + "=" + std::to_string(cap) + " ";
    }
    Managed manager(world, {}, test::once());

    world.run(manager->run());

    SCOPED_TRACE(std::string(spec) + " " + caps);
    expect_all_reach(world.fabric(), active_hosts(world.fabric()));
    EXPECT_FALSE(active_hosts(world.fabric()).empty());
  }
}

TEST(SmallTable, ThatIsReplacedBringsTheRestUp) {
  sim::World world(test::spec("ft2:8"));
  for (const auto& name : names(world.fabric(), true)) world.fabric().faults().linear_fdb_cap(name, 20);
  Managed manager(world);
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(manager->run());
  world.run_for(std::chrono::seconds(2));
  EXPECT_EQ(active_hosts(world.fabric()).size(), 19U);

  for (const auto& name : names(world.fabric(), true)) world.fabric().faults().linear_fdb_cap(name, 49'152);
  manager->requests().resweep(sm::Resweep::heavy, "test");
  world.run_for(std::chrono::seconds(2));

  EXPECT_EQ(active_hosts(world.fabric()).size(), 32U);
  EXPECT_TRUE(world.fabric().reach().all());
  EXPECT_EQ(manager.last().summary.state, sm::SweepState::up);
  world.run(group.stop());
}

}  // namespace
}  // namespace smd
