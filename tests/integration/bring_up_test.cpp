// SPDX-License-Identifier: Apache-2.0
// A fabric comes up: from reset nodes to Active ports and routes that deliver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mad/wire/attributes.h"
#include "tests/support/managed_world.h"
#include "tests/support/sim_lab.h"

namespace smd {
namespace {

using test::Managed;

/// Every host reaches every other by what stands in the switches.
void expect_all_pairs(sim::World& world, const base::Fabric& fabric) {
  for (const auto& from : fabric.nodes) {
    if (from.type != NodeType::ca || !from.ports[1].peer) continue;
    for (const auto& to : fabric.nodes) {
      if (to.type != NodeType::ca || !to.ports[1].peer) continue;
      const auto lid = world.fabric().port_info({to.id, PortNum{1}})->lid;
      const auto walk = world.fabric().walk({from.id, PortNum{1}}, lid);
      EXPECT_TRUE(walk.delivered()) << from.name << " to " << to.name << ": "
                                    << sim::to_string(world.fabric().state(), walk);
    }
  }
}

class BringUp : public testing::TestWithParam<const char*> {};

TEST_P(BringUp, EndsWithActivePortsAndRoutesThatDeliver) {
  const auto fabric = test::spec(GetParam());
  sim::World world(fabric);
  Managed manager(world, {}, test::once());

  world.run(manager->run());

  EXPECT_EQ(manager.last().summary.state, sm::SweepState::up) << testing::PrintToString(manager.lines().all);
  EXPECT_THAT(world.fabric().not_active(), testing::IsEmpty());
  expect_all_pairs(world, fabric);
}
INSTANTIATE_TEST_SUITE_P(Fabrics, BringUp,
                         testing::Values("ft2:4", "ft2:8", "ft3:4", "torus:3x3:1", "torus:5x5:1",
                                         "mesh:2x3x2:1", "random:12:3:2:5", "random:20:4:1:9",
                                         "dragonfly:3:1:1", "hyperx:3x3:1", "rails:2:2:4:2"));

TEST(BringUp, TwoAdaptersBackToBackNeedNoSwitch) {
  test::FabricBuilder b;
  b.link(b.add_ca("a"), 1, b.add_ca("b"), 1);
  sim::World world(b.fabric());
  Managed manager(world, {}, test::once());

  world.run(manager->run());

  EXPECT_EQ(manager.last().summary.state, sm::SweepState::up) << testing::PrintToString(manager.lines().all);
  EXPECT_THAT(world.fabric().not_active(), testing::IsEmpty());
}

TEST(BringUp, ReassignGivesNewLidsOnceAndThenKeepsThem) {
  sim::World world(test::spec("ft2:4"));
  const auto lids_from = [&](unsigned first, bool reassign) {
    config::SubnetConfig config;
    config.lids.first = Lid{static_cast<std::uint16_t>(first)};
    config.lids.reassign = reassign;
    Managed manager(world, config, test::once());
    world.run(manager->run());
    EXPECT_EQ(manager.last().summary.state, sm::SweepState::up);
    return manager.last().decided.lids->entries.front().base.value();
  };
  EXPECT_GE(lids_from(1000, false), 1000);
  EXPECT_GE(lids_from(1, false), 1000) << "valid ones stay";
  EXPECT_LT(lids_from(1, true), 1000);

  config::SubnetConfig config;
  config.lids.reassign = true;
  Managed manager(world, config);
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(manager->run());
  world.run_for(std::chrono::seconds(2));
  const auto first = manager.last().decided.lids;
  manager->requests().resweep(sm::Resweep::heavy, "test");
  world.run_for(std::chrono::seconds(2));
  EXPECT_EQ(*manager.last().decided.lids, *first);
  world.run(group.stop());
}

TEST(BringUp, ALonelyAdapterIsAPortForTheManager) {
  test::FabricBuilder b;
  b.add_ca("alone");
  sim::World world(b.fabric());
  EXPECT_NE(world.transport(), nullptr);
}

TEST(BringUp, ASecondManagerWithoutMemorySetsNothing) {
  for (const auto* text : {"ft2:8", "torus:3x3:1", "random:12:3:2:5"}) {
    sim::World world(test::spec(text));
    {
      Managed first(world, {}, test::once());
      world.run(first->run());
    }
    world.fabric().counts().clear();
    Managed second(world, {}, test::once());

    world.run(second->run());

    for (const auto& count : world.fabric().counts().all())
      EXPECT_EQ(count.sets, 0U) << text << ": attribute " << count.attribute;
    EXPECT_EQ(second.last().summary.state, sm::SweepState::up);
    EXPECT_EQ(second.last().decided.routes->origin, sm::RoutePart::Origin::fresh)
        << second.last().decided.routes->would_change << " " << second.last().summary.lft_entries_changed;
    EXPECT_EQ(second.last().summary.lids_changed, 0U);
  }
}

TEST(BringUp, OneEntryChangedBehindItsBackIsOneSet) {
  const auto fabric = test::spec("ft2:8");
  sim::World world(fabric);
  Lid victim;
  {
    Managed first(world, {}, test::once());
    world.run(first->run());
    victim = world.fabric().port_info({"h00009", PortNum{1}})->lid;
  }
  world.fabric().faults().set_lft_entry("leaf000", victim, PortNum{1});
  world.fabric().counts().clear();
  Managed second(world, {}, test::once());

  world.run(second->run());

  EXPECT_EQ(world.fabric().counts().sets(), 1U);
  EXPECT_EQ(world.fabric().counts().sets(wire::LinearForwardingTable::kAttribute), 1U);
  EXPECT_EQ(second.last().summary.lft_entries_changed, 1U);
  expect_all_pairs(world, fabric);
}

TEST(BringUp, TheSameSeedGivesTheSameTraceTwice) {
  std::vector<std::uint64_t> traces;
  for (int i = 0; i < 2; ++i) {
    sim::World world(test::spec("ft2:8"));
    world.fabric().faults().loss(0.05);
    Managed manager(world, {}, test::once());
    world.run(manager->run());
    traces.push_back(world.trace_hash());
  }
  EXPECT_EQ(traces[0], traces[1]);
}

TEST(BringUp, SmpsAreThoseThatTheFabricNeeds) {
  sim::World world(test::spec("ft2:36"));
  Managed manager(world, {}, test::once());

  world.run(manager->run());

  // OpenSM 3.3.23 sends 23,816 SMPs for this fabric on ibsim, 594 of them LFT Sets.
  const auto& counts = world.fabric().counts();
  const auto lft_sets = counts.sets(wire::LinearForwardingTable::kAttribute);
  EXPECT_LE(static_cast<double>(counts.total() - lft_sets), 0.6 * (23'816 - 594));
  EXPECT_EQ(counts.gets(wire::NodeInfo::kAttribute), 1'297U);  // each of 1,296 links once, and ourselves
}

TEST(BringUp, AnUnchangedFabricIsReadWithoutItsTablesAndNotWritten) {
  sim::World world(test::spec("ft2:8"));
  Managed manager(world);
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(manager->run());
  world.run_for(std::chrono::seconds(1));
  world.fabric().counts().clear();

  manager->requests().resweep(sm::Resweep::heavy, "test");
  world.run_for(std::chrono::seconds(1));
  world.run(group.stop());

  EXPECT_EQ(manager.last().summary.reason, "test");
  EXPECT_EQ(world.fabric().counts().sets(), 0U);
  EXPECT_EQ(world.fabric().counts().gets(wire::LinearForwardingTable::kAttribute), 0U);
}

TEST(DryRun, SendsOnlyGets) {
  sim::World world(test::spec("ft2:8"));
  sm::ManagerOptions options;
  options.dry_run = true;
  Managed manager(world, {}, options);

  world.run(manager->run());

  EXPECT_EQ(manager.last().plan->sets(), 292U);
  EXPECT_EQ(world.fabric().counts().sets(), 0U);
  EXPECT_GT(world.fabric().counts().gets(), 0U);
}

}  // namespace
}  // namespace smd
