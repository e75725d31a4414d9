// SPDX-License-Identifier: Apache-2.0
// torus-2QoS in a daemon: SL to VL tables by both ports of a hop, SLs that faults do not change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "routing/repair/guid_layers.h"
#include "routing/verify/service_levels.h"
#include "smd/report/qos_explanation.h"
#include "tests/support/layered_fabric.h"

namespace smd {
namespace {

using namespace std::chrono_literals;

class TorusFabric : public test::LayeredFabric {
 protected:
  TorusFabric() : LayeredFabric("torus:5x4:2+guids=7") { config_.routing.engines = {"torus-2QoS"}; }

  const routing::VlMap& vls() { return routes().layers.vls; }

  std::uint64_t row(const sim::Place& out, unsigned in) {
    return sim::sl_to_vl_row(state(), at(out), PortNum{static_cast<std::uint8_t>(in)});
  }

  bool active(const sim::Place& place) {
    return state().ports[at(place)].info.port_state == PortState::active;
  }

  /// To other switches, of one of them.
  std::vector<sim::Place> cables_of_a_switch() {
    std::vector<sim::Place> cables;
    for (std::size_t i = 0; i < 80; ++i) cables.push_back(cable(i));
    const auto victim = cables[40].node;
    std::erase_if(cables, [&](const auto& one) { return one.node != victim; });
    EXPECT_EQ(cables.size(), 4U);
    return cables;
  }

  /// What the switches hold, and what clients are told.
  routing::ServiceLevels held() {
    const auto& topology = *routes().topology;
    const auto& now = manager_->last();
    routing::ServiceLevels levels;
    for (routing::SwitchIndex s = 0; s < topology.switches(); ++s) {
      const auto* node = now.subnet->find(topology.guid(s));
      auto& maps = levels.sl_to_vl.emplace_back((topology.ports(s) + 1U) * (topology.ports(s) + 1U));
      for (unsigned out = 1; out <= topology.ports(s); ++out) {
        for (unsigned in = 0; in <= topology.ports(s); ++in) {
          const auto bits = row({node->description, PortNum{static_cast<std::uint8_t>(out)}}, in);
          for (unsigned sl = 0; sl < 16; ++sl)
            maps[in * (topology.ports(s) + 1U) + out][sl] = static_cast<std::uint8_t>(bits >> (4 * sl) & 0xF);
        }
      }
    }
    for (const auto& end : topology.end_ports()) {
      auto& sls = levels.path_sl.emplace_back(routes().lid_map->row_size());
      const auto* node = now.subnet->find(end.node);
      for (std::size_t lid = 1; lid < sls.size(); ++lid)
        sls[lid] =
            sm::path_sl(now.decided, Sl{0}, *node, PortNum{1}, Lid{static_cast<std::uint16_t>(lid)}).value();
    }
    return levels;
  }

  /// Every path and its way back, over the tables that the switches hold. Whether one SL for all closes the
  /// rings.
  bool expect_no_credit_loop() {
    routing::Routes held_routes;
    for (const auto& one : routes().rows) held_routes.rows.push_back(one.row);
    const routing::Serial serial;
    const auto found =
        routing::check_service_levels({*routes().topology, *routes().lid_map, serial}, held_routes, held());
    EXPECT_EQ(found.credit_loops, 0U);
    EXPECT_EQ(found.reverse_loops, 0U);
    EXPECT_EQ(found.dropped, 0U);
    EXPECT_TRUE(routes().verification.clean());
    EXPECT_EQ(routes().pairs_moved, 0U);
    return found.fixed_loops != 0;
  }
  void expect_free_of_credit_loops() { EXPECT_TRUE(expect_no_credit_loop()); }

  /// Tables of one layer, by which all pairs have the layers that they had first.
  void expect_stand_in() {
    EXPECT_EQ(routes().engine, "updn");
    const auto& home = manager_->last().stored->layers_home;
    ASSERT_TRUE(home);
    const routing::PairLayers none(routes().topology->switches(), 0);
    EXPECT_EQ(routes().layers.by_pair, routing::layers_for(*routes().topology, *home, none));
    EXPECT_FALSE(expect_no_credit_loop());
  }
};

/// As VLs of their own the layers of the torus would be too many.
class TorusOfTwoVls : public TorusFabric {
 protected:
  TorusOfTwoVls() {
    config_.links.operational_vls = 2;
    config_.routing.converge_after = 1min;
  }
};

/// The rule of torus-2QoS(8), with both levels: 8 VLs, and VLs 0 and 1 at hosts.
TEST_F(TorusFabric, MapsSlsAsOpensmDoes) {
  begin();
  ASSERT_EQ(vls().indexes(), 4U);
  std::size_t between = 0, turns = 0;
  for (const auto& node : state().nodes) {
    const auto s = node.is_switch() ? routes().topology->find(node.guid) : routing::kNoSwitch;
    for (unsigned p = 1; p <= node.ports; ++p) {
      const PortNum out{static_cast<std::uint8_t>(p)};
      const sim::Place place{node.name, out};
      if (!active(place)) continue;
      const bool own = node.is_switch() && between_switches(place);
      const unsigned to = own ? vls().dimension(s, out) : 3U;
      EXPECT_EQ(own, to < 3) << node.name << ' ' << p;
      between += own ? 1U : 0U;
      for (unsigned in = 0; in <= (node.is_switch() ? node.ports : 0U); ++in) {
        const unsigned from = own ? vls().dimension(s, PortNum{static_cast<std::uint8_t>(in)}) : 3U;
        const bool turned = own && from < 3 && from > to;
        turns += turned ? 1U : 0U;
        for (unsigned sl = 0; sl < 16; ++sl) {
          const auto level = sl >> 3U;
          EXPECT_EQ(row(place, in) >> (4 * sl) & 0xF,
                    own ? (sl >> to & 1U) | (turned ? 2U : 0U) | level << 2U : level)
              << node.name << " from " << in << " to " << p << ", SL " << sl;
        }
      }
    }
  }
  EXPECT_EQ(between, 80U);
  EXPECT_EQ(turns, 20U * 4) << "two ports of the second dimension, two of the first";
  const auto& last = manager_->last();
  const auto found = sm::explain_qos({.subnet = *last.subnet, .decided = last.decided});
  EXPECT_TRUE(std::ranges::any_of(found.kinds, [](const auto& kind) {
    return testing::Matches(testing::Contains(testing::HasSubstr("after a turn to a lower dimension")))(
        kind.notes);
  }));
  expect_free_of_credit_loops();
}

TEST_F(TorusFabric, ASecondSweepWritesNothing) {
  begin();
  world_.fabric().counts().clear();
  (*manager_)->requests().resweep(sm::Resweep::heavy, "test");
  world_.run_for(10s);
  EXPECT_EQ(world_.fabric().counts().sets(), 0U);
}

TEST_F(TorusFabric, CablesFailAndSlsStay) {
  begin();
  const auto first_layers = layers();
  const auto first_tables = tables();
  for (const std::size_t which : {0U, 7U, 31U, 52U}) {
    const auto place = cable(which);
    world_.fabric().faults().link_down(place);
    world_.run_for(10s);
    EXPECT_EQ(routes().engine, "torus-2QoS");
    EXPECT_NE(tables(), first_tables) << which;
    EXPECT_EQ(layers(), first_layers) << which;
    expect_free_of_credit_loops();

    world_.fabric().faults().link_up(place);
    world_.run_for(60s);
    EXPECT_EQ(tables(), first_tables) << which;
    EXPECT_EQ(layers(), first_layers) << which;
  }
}

TEST_F(TorusFabric, ASwitchFailsAndSlsStay) {
  begin();
  const auto first_layers = layers();
  const auto cables = cables_of_a_switch();
  for (const auto& one : cables) world_.fabric().faults().link_down(one);
  world_.run_for(20s);
  EXPECT_EQ(routes().engine, "torus-2QoS");
  EXPECT_EQ(routes().topology->switches(), 19U);
  expect_free_of_credit_loops();
  for (const auto& one : cables) world_.fabric().faults().link_up(one);
  world_.run_for(60s);
  EXPECT_EQ(layers(), first_layers);
  EXPECT_EQ(routes().topology->switches(), 20U);
  EXPECT_EQ(manager_->lines().count("routing.interrupts"), 0U);
  expect_free_of_credit_loops();
}

/// It comes back by one link, with which the engine cannot route it: the others keep their SLs while it
/// waits.
TEST_F(TorusFabric, ASwitchWithTooFewLinksWaits) {
  config_.routing.converge_after = 1min;
  begin();
  const auto first_layers = layers();
  const auto cables = cables_of_a_switch();
  for (const auto& one : cables) world_.fabric().faults().link_down(one);
  world_.run_for(20s);
  const auto without = tables();
  world_.fabric().faults().link_up(cables[0]);
  world_.run_for(50s);
  EXPECT_EQ(routes().engine, "torus-2QoS");
  EXPECT_EQ(tables(), without);
  EXPECT_THAT(manager_->lines().first("routing.switch_waits"), testing::HasSubstr("torus-2QoS cannot route"));
  expect_free_of_credit_loops();

  world_.run_for(3min);  // no more links come
  EXPECT_EQ(routes().engine, "updn");
  EXPECT_EQ(routes().topology->switches(), 20U);
  EXPECT_TRUE(routes().waiting.empty());
  EXPECT_TRUE(routes().verification.clean());
  EXPECT_EQ(layers(), first_layers) << "what connects now goes on when the engine is back";

  for (const auto& one : cables) world_.fabric().faults().link_up(one);
  world_.run_for(4min);
  EXPECT_EQ(routes().engine, "torus-2QoS");
  EXPECT_EQ(layers(), first_layers);
  expect_free_of_credit_loops();
}

/// What connects while tables of one layer stand in goes on when the engine is back.
TEST_F(TorusOfTwoVls, PathsKeepTheirSlsWhileOneLayerStandsIn) {
  begin();
  ASSERT_EQ(routes().layers.vl_indexes(), 2U);
  const auto first_layers = layers();
  const auto cables = cables_of_a_switch();
  for (const auto& one : cables) world_.fabric().faults().link_down(one);
  world_.run_for(20s);
  ASSERT_EQ(routes().topology->switches(), 19U);
  expect_stand_in();
  EXPECT_EQ(routes().layers.vl_indexes(), 2U) << "no SL is on another VL meanwhile";

  world_.fabric().faults().link_up(cables[0]);
  world_.run_for(50s);
  ASSERT_EQ(routes().topology->switches(), 20U);
  expect_stand_in();

  for (const auto& one : cables) world_.fabric().faults().link_up(one);
  world_.run_for(4min);
  EXPECT_EQ(routes().engine, "torus-2QoS");
  EXPECT_EQ(layers(), first_layers);
  expect_free_of_credit_loops();
}

TEST_F(TorusOfTwoVls, PathsKeepTheirSlsOverARestartMeanwhile) {
  begin();
  const auto first_layers = layers();
  const auto cables = cables_of_a_switch();
  for (const auto& one : cables) world_.fabric().faults().link_down(one);
  world_.run_for(20s);
  const auto tables_then = tables();
  end();
  world_.fabric().counts().clear();
  begin();
  expect_stand_in();
  EXPECT_EQ(tables(), tables_then);
  EXPECT_EQ(world_.fabric().counts().sets(wire::LinearForwardingTable::kAttribute), 0U);

  for (const auto& one : cables) world_.fabric().faults().link_up(one);
  world_.run_for(4min);
  EXPECT_EQ(routes().engine, "torus-2QoS");
  EXPECT_EQ(layers(), first_layers);
  expect_free_of_credit_loops();
}

/// The tables of updn carry every SL, also those that are mended later.
TEST_F(TorusFabric, CablesFailWhileAnotherEngineStandsInAndSlsStay) {
  config_.routing.converge_after = 1min;
  begin();
  const auto first_layers = layers();
  std::vector<sim::Place> lost{{"t02-01", PortNum{1}}, {"t02-01", PortNum{2}}, {"t00-00", PortNum{1}}};
  for (const auto& one : lost) world_.fabric().faults().link_down(one);
  world_.run_for(10s);
  ASSERT_EQ(routes().engine, "updn");
  EXPECT_EQ(layers(), first_layers);
  for (const auto& one : {sim::Place("t03-02", PortNum{3}), sim::Place("t04-03", PortNum{1})}) {
    world_.fabric().faults().link_down(one);
    world_.run_for(10s);
    EXPECT_EQ(routes().engine, "updn");
    EXPECT_EQ(layers(), first_layers) << one.node;
    EXPECT_TRUE(routes().verification.clean());
    lost.push_back(one);
  }
  EXPECT_EQ(manager_->lines().count("routing.sl_stale"), 0U);

  for (const auto& one : lost) world_.fabric().faults().link_up(one);
  world_.run_for(4min);
  EXPECT_EQ(routes().engine, "torus-2QoS");
  EXPECT_EQ(layers(), first_layers);
  expect_free_of_credit_loops();
}

TEST_F(TorusFabric, ARestartKeepsRoutesAndSls) {
  begin();
  expect_a_restart_keeps_all();
}

}  // namespace
}  // namespace smd
