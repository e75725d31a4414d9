// SPDX-License-Identifier: Apache-2.0
// Routes of several layers in a daemon: VL tables, SLs of paths, repair and restart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "mad/wire/sa/path_record.h"
#include "smd/policy/policies.h"
#include "smd/report/preview.h"
#include "tests/support/layered_fabric.h"
#include "tests/support/partition_config.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::LayeredFabric;

TEST_F(LayeredFabric, HasAVlForEachLayerBetweenSwitchesAndOneAtHosts) {
  begin();
  const auto vls = routes().vls;
  EXPECT_EQ(vls, 8U);
  std::size_t between = 0, others = 0;
  for (const auto& node : state().nodes) {
    for (unsigned p = 1; p <= node.ports; ++p) {
      const sim::Place place{node.name, PortNum{static_cast<std::uint8_t>(p)}};
      if (state().ports[at(place)].info.port_state != PortState::active) continue;
      const bool own = node.is_switch() && between_switches(place);
      ++(own ? between : others);
      for (unsigned in = 0; in <= (node.is_switch() ? node.ports : 0U); ++in) {
        const auto row = sim::sl_to_vl_row(state(), at(place), PortNum{static_cast<std::uint8_t>(in)});
        for (unsigned sl = 0; sl < 16; ++sl) EXPECT_EQ(row >> (4 * sl) & 0xF, own && sl < vls ? sl : 0U);
      }
      const auto& arbitration = state().ports[at(place)].tables->vl_arb[0].entries;
      for (unsigned vl = 0; own && vl < vls; ++vl)
        EXPECT_EQ(arbitration[vl], (wire::VlWeight{Vl{static_cast<std::uint8_t>(vl)}, 64}));
    }
  }
  EXPECT_EQ(between, 64U);
  EXPECT_EQ(others, 64U);
}

TEST_F(LayeredFabric, EachPortReachesTheSmOnTheSlOfItsPath) {
  begin();
  const auto& now = manager_->last();
  std::set<unsigned> seen;
  for (const auto& node : now.subnet->nodes) {
    const std::size_t port = node->is_switch() ? 0 : 1;
    const auto sl = sm::path_sl(now.decided, Sl{0}, *node, PortNum{static_cast<std::uint8_t>(port)},
                                now.decided.lids->sm_lid);
    EXPECT_EQ(node->ports[port].info.master_sm_sl, sl) << node->description;
    seen.insert(sl.value());
  }
  EXPECT_GT(seen.size(), 1U);
}

TEST_F(LayeredFabric, ASecondSweepWritesNothing) {
  begin();
  world_.fabric().counts().clear();
  (*manager_)->requests().resweep(sm::Resweep::heavy, "test");
  world_.run_for(10s);
  EXPECT_EQ(world_.fabric().counts().sets(), 0U);
}

TEST_F(LayeredFabric, CablesFailAndPairsKeepTheirSls) {
  begin();
  const auto first_layers = layers();
  const auto first_tables = tables();
  for (std::size_t i = 0; i < 12; ++i) {
    const auto place = cable(5 * i);
    world_.fabric().counts().clear();
    world_.fabric().faults().link_down(place);
    world_.run_for(10s);
    EXPECT_TRUE(routes().verification.clean());
    EXPECT_EQ(routes().origin, sm::RoutePart::Origin::repaired) << routes().not_repaired;
    EXPECT_EQ(vl_sets(), 0U);
    // Only pairs whose paths fit nowhere else have moved.
    std::size_t moved = 0;
    const auto now = layers();
    for (std::size_t pair = 0; pair < now.size(); ++pair) moved += now[pair] != first_layers[pair] ? 1U : 0U;
    EXPECT_EQ(routes().pairs_moved, moved);
    EXPECT_LE(moved, now.size() / 20) << i;

    world_.fabric().faults().link_up(place);
    world_.run_for(2min);
    EXPECT_EQ(tables(), first_tables) << i;
    EXPECT_EQ(layers(), first_layers) << i;
  }
  // The way back may take LIDs out of service for a packet lifetime, repair does not.
  EXPECT_EQ(manager_->lines().count("routing.interrupts reason=\"there"), 0U);
}

TEST_F(LayeredFabric, ConvergesInTimeWithoutLightSweeps) {
  config_.routing.converge_after = 5s;
  config_.sweep.interval = {};
  begin();
  const auto first_tables = tables();
  const auto place = cable(9);
  world_.fabric().faults().link_down(place);
  world_.run_for(2s);
  world_.fabric().faults().link_up(place);
  world_.run_for(2s);
  ASSERT_EQ(routes().origin, sm::RoutePart::Origin::repaired) << routes().not_repaired;
  world_.run_for(30s);
  EXPECT_EQ(routes().origin, sm::RoutePart::Origin::fresh);
  EXPECT_EQ(tables(), first_tables);
}

class LayersAtAReload : public LayeredFabric {
 protected:
  LayersAtAReload() : LayeredFabric("torus:5x5:2") {}
};

/// Fresh tables of the fabric without a cable would give 68 pairs of switches other SLs.
TEST_F(LayersAtAReload, OfAnotherKeyNoSlChanges) {
  begin();
  const auto place = cable(0);
  world_.fabric().faults().link_down(place);
  world_.run_for(5s);
  const auto layers_then = layers();
  config_.routing.allow_credit_loops = true;
  (*manager_)->requests().reload(config_);
  world_.run_for(5s);
  EXPECT_EQ(layers(), layers_then);
  EXPECT_EQ(routes().pairs_moved, 0U);
  EXPECT_TRUE(routes().verification.clean());
}

/// The hosts of a switch are away for longer than sl_keep: its paths may keep the SLs that a repair gave
/// them.
TEST_F(LayeredFabric, SlsOfHostsThatAreAwayForLongAreReleased) {
  config_.routing.sl_keep = 10min;
  begin();
  const auto first_layers = layers();
  std::size_t which = 0;
  for (; routes().pairs_moved == 0 && which < 64; ++which) {
    if (which != 0) world_.fabric().faults().link_up(cable(which - 1));
    world_.run_for(2min);
    world_.fabric().faults().link_down(cable(which));
    world_.run_for(10s);
  }
  ASSERT_NE(routes().pairs_moved, 0U) << "no cable whose loss moves a pair";
  world_.run_for(20min);
  const auto moved = routes().pairs_moved;
  EXPECT_NE(moved, 0U) << "hosts that are there keep what they have";
  EXPECT_EQ(manager_->lines().count("routing.sl_released"), 0U);

  // An end of a pair that has moved, not the SM's.
  const auto& subnet = *manager_->last().subnet;
  const auto sms_switch = subnet.find(subnet.sm_node)->ports[1].peer->node;
  const auto& topology = *routes().topology;
  const auto now_layers = layers();
  Guid victim;
  std::size_t pair = 0;
  for (routing::SwitchIndex a = 0; a < topology.switches(); ++a) {
    for (routing::SwitchIndex b = 0; b < a; ++b, ++pair) {
      if (now_layers[pair] == first_layers[pair]) continue;
      victim = topology.guid(a) != sms_switch ? topology.guid(a) : topology.guid(b);
    }
  }
  const auto* node = subnet.find(victim);
  std::vector<sim::Place> hosts;
  for (unsigned p = 1; p < node->ports.size(); ++p) {
    const sim::Place place{node->description, PortNum{static_cast<std::uint8_t>(p)}};
    if (node->ports[p].peer && !between_switches(place)) hosts.push_back(place);
  }
  ASSERT_EQ(hosts.size(), 2U);
  for (const auto& place : hosts) world_.fabric().faults().link_down(place);
  world_.run_for(9min);
  EXPECT_EQ(manager_->lines().count("routing.sl_released"), 0U);
  world_.run_for(3min);
  EXPECT_EQ(manager_->lines().count("routing.sl_released"), 1U);
  EXPECT_LT(routes().pairs_moved, moved);
}

/// What `smd check --running` counts are the Sets of all steps by which SLs move to other VLs.
TEST_F(LayeredFabric, APreviewOfAFurtherClassCountsAllSteps) {
  config_.qos.enabled = true;
  config_.partition = {test::partition("Default", 0x7fff, {"ALL"}), test::partition("blue", 0x21, {"ALL"})};
  begin();
  world_.run_for(1min);  // tables of ports in service have been read
  config_.partition[1].sl = 3;
  const auto now = manager_->last();
  const routing::Serial serial;
  const auto found = sm::preview({.subnet = *now.subnet,
                                  .decided = now.decided,
                                  .stored = *now.stored,
                                  .config = config_,
                                  .partitions = policy::merged_policy(config_, policy::Policies{}),
                                  .parallel = serial});
  std::size_t counted = 0;
  for (const auto& [phase, sets] : found.sets) counted += phase.starts_with("vl_") ? sets : 0;
  const auto before = vl_sets();

  (*manager_)->requests().reload(config_);
  world_.run_for(30s);

  EXPECT_NE(counted, 0U);
  EXPECT_EQ(counted, vl_sets() - before);
  EXPECT_FALSE(found.vls_unproven);
}

TEST_F(LayeredFabric, ARestartKeepsRoutesAndSls) {
  begin();
  expect_a_restart_keeps_all();
}

}  // namespace
}  // namespace smd
