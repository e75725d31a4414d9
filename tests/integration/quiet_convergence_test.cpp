// SPDX-License-Identifier: Apache-2.0
// Fabrics that are no trees lose cables for good: repaired tables become fresh ones after some quiet, by the
// ranking that they have.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "routing/quality/load.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

using namespace std::chrono_literals;

/// Ends of cables between switches.
std::vector<sim::Place> cables_of(const base::Fabric& fabric) {
  std::vector<sim::Place> cables;
  for (base::NodeIndex i = 0; i < fabric.nodes.size(); ++i) {
    const auto& node = fabric.nodes[i];
    for (std::size_t p = 1; node.type == NodeType::switch_ && p < node.ports.size(); ++p) {
      const auto& peer = node.ports[p].peer;
      if (peer && fabric.nodes[peer->node].type == NodeType::switch_ && peer->node > i)
        cables.push_back({node.name, PortNum{static_cast<std::uint8_t>(p)}});
    }
  }
  return cables;
}

double load_of(const sm::RoutePart& part, const routing::Routes& routes) {
  const routing::Serial serial;
  return routing::measure_load({*part.topology, *part.lid_map, serial}, routes,
                               routing::hosts_in_file_order(*part.topology))
      .max_link_time;
}

double load_of(const sm::RoutePart& part) {
  routing::Routes now{.rows = {}, .layers = part.layers};
  for (const auto& row : part.rows) now.rows.push_back(row.row);
  return load_of(part, now);
}

/// A managed fabric that has lost a sixth of its cables, one after the other.
struct DamagedOne {
  DamagedOne(const char* spec, std::uint64_t seed)
      : world(test::spec(spec)), manager(world), group(world.io().get_executor()) {
    group.spawn(manager->run());
    world.run_for(2s);
    auto cables = cables_of(test::spec(spec));
    std::mt19937_64 random(seed);
    std::ranges::shuffle(cables, random);
    for (std::size_t i = 0; i < cables.size() / 6; ++i) {
      world.fabric().faults().link_down(cables[i]);
      world.run_for(500ms);
    }
    world.run_for(10s);
  }

  sim::World world;
  test::Managed manager;
  mad::TaskGroup group;
};

class QuietConvergence : public testing::TestWithParam<const char*> {};

TEST_P(QuietConvergence, TablesWithoutATreeBecomeFreshOnes) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    DamagedOne damaged(GetParam(), seed);
    auto& [world, manager, group] = damaged;
    const auto repaired = load_of(*manager.last().decided.routes);
    world.run_for(200s);
    const auto quiet = manager.last().decided.routes;
    const auto tried = manager.lines().count("reason=converge");
    world.run_for(300s);
    const auto tried_again = manager.lines().count("reason=converge") - tried;
    manager->requests().resweep(sm::Resweep::converge, "test");
    world.run_for(60s);
    world.run(group.stop());

    EXPECT_TRUE(quiet->verification.clean());
    EXPECT_LE(load_of(*quiet), repaired);
    EXPECT_EQ(tried_again, 0U) << "without a change there is no other result";
    EXPECT_TRUE(quiet->origin == sm::RoutePart::Origin::fresh ||
                manager.lines().count("routing.not_converged") != 0);
    EXPECT_TRUE(manager.last().decided.routes->verification.clean());
    EXPECT_LE(load_of(*manager.last().decided.routes), repaired);
    EXPECT_TRUE(world.fabric().reach().all());
  }
}

TEST_P(QuietConvergence, WhatTheOperatorHasTriedIsNotTriedAgain) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    DamagedOne damaged(GetParam(), seed);
    auto& [world, manager, group] = damaged;
    manager->requests().resweep(sm::Resweep::converge, "test");
    world.run_for(30s);
    const auto tried = manager.lines().count("reason=converge");
    world.run_for(300s);
    const auto tried_again = manager.lines().count("reason=converge") - tried;
    world.run(group.stop());

    EXPECT_EQ(tried_again, 0U) << "without a change there is no other result";
    EXPECT_TRUE(manager.last().decided.routes->verification.clean());
    EXPECT_TRUE(world.fabric().reach().all());
  }
}

/// The damaged fabric is best routed by updn, the whole one by nue.
TEST(OperatorsConvergence, ChangesTheEngineOnlyWhereThatIsAskedFor) {
  const auto fabric = test::spec("random:12:4:2:5+guids=3");
  const auto left = cables_of(test::spec("random:12:4:2:5+guids=3+cut=45:2"));
  sim::World world(fabric);
  std::vector<sim::Place> lost;
  for (const auto& cable : cables_of(fabric)) {
    if (std::ranges::find(left, cable) != left.end()) continue;
    lost.push_back(cable);
    world.fabric().faults().link_down(cable);
  }
  test::Managed manager(world);
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(manager->run());
  world.run_for(2s);
  const auto engine = [&] { return manager.last().decided.routes->engine; };
  EXPECT_EQ(engine(), "updn");
  for (const auto& cable : lost) world.fabric().faults().link_up(cable);
  world.run_for(10s);
  manager->requests().resweep(sm::Resweep::converge, "test");
  world.run_for(60s);
  const auto same = manager.last().decided.routes;
  manager->requests().resweep(sm::Resweep::converge_engine, "test");
  world.run_for(60s);
  world.run(group.stop());

  EXPECT_EQ(same->engine, "updn");
  EXPECT_EQ(engine(), "nue");
  EXPECT_LT(load_of(*manager.last().decided.routes), load_of(*same));
  EXPECT_TRUE(manager.last().decided.routes->verification.clean());
  EXPECT_TRUE(world.fabric().reach().all());
}

INSTANTIATE_TEST_SUITE_P(Fabrics, QuietConvergence,
                         testing::Values("mesh:4x4:2", "torus:4x4:2", "hyperx:4x3:2", "dragonfly:3:1:2",
                                         "random:12:4:2:5+guids=3", "random:16:5:2:9+guids=4"));

}  // namespace
}  // namespace smd
