// SPDX-License-Identifier: Apache-2.0
// What the simulated switches hold: multicast trees and unicast paths together close no cycle of channels
// where the status says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "smd/decide/multicast.h"
#include "tests/support/managed_world.h"
#include "tests/support/multicast_oracle.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Managed;

class ProvenFabric {
 public:
  ProvenFabric(std::string_view spec, const std::string& engine, bool credit_loops = false)
      : world_(test::spec(spec)) {
    config::SubnetConfig config;
    config.routing.allow_credit_loops = credit_loops;
    config.routing.engines = {engine};
    if (engine == "dfsssp" || engine == "lash" || engine == "torus-2QoS")
      config.routing.path_sl = config::PathSl::asked;
    manager_.emplace(world_, std::move(config));
    group_.emplace(world_.io().get_executor());
    group_->spawn((*manager_)->run());
    world_.run_for(10s);
  }
  ~ProvenFabric() { world_.run(group_->stop()); }

  const sm::Decided& decided() { return manager_->last().decided; }
  const sm::MulticastContext& context() { return *decided().multicast->context; }
  const Managed& manager() const { return *manager_; }

  /// So many groups with members at random.
  void join(std::mt19937_64& random, unsigned count) {
    std::vector<Guid> ports;
    for (const auto& node : manager_->last().subnet->nodes) {
      if (!node->is_switch()) ports.push_back(node->ports[1].guid);
    }
    auto groups = std::make_shared<sm::GroupList>();
    for (unsigned i = 0; i < count; ++i) {
      sm::GroupMembers group{.mlid = Lid{static_cast<std::uint16_t>(0xC001 + i)}, .members = {}};
      for (const auto port : ports) {
        if (random() % 3 == 0) group.members.push_back({port, random() % 4 != 0});
      }
      groups->push_back(std::move(group));
    }
    groups_ = groups;
    (*manager_)->requests().set_groups([groups] { return groups; });
    world_.run_for(2s);
  }

  /// The first cable between switches that the random number names goes down, or all come up.
  void lose(std::mt19937_64& random) {
    std::vector<sim::Place> cables;
    for (const auto& node : manager_->last().subnet->nodes) {
      for (std::size_t p = 1; node->is_switch() && p < node->ports.size(); ++p) {
        const auto& peer = node->ports[p].peer;
        if (peer && manager_->last().subnet->find(peer->node)->is_switch())
          cables.push_back({node->description, PortNum{static_cast<std::uint8_t>(p)}});
      }
    }
    lost_ = cables[random() % cables.size()];
    world_.fabric().faults().link_down(lost_);
    world_.run_for(20s);
  }
  void mend() {
    world_.fabric().faults().link_up(lost_);
    world_.run_for(30s);
  }

  /// Of what is proven.
  void expect_no_cycle() {
    const auto& routes = *decided().routes;
    EXPECT_TRUE(proof_is_of_tables_in_force());
    if (context().not_proven != 0) return;
    ASSERT_TRUE(routes.verification.ok());
    const auto held = tables_of_switches();
    EXPECT_FALSE(
        routing::oracle::multicast_cycle(*routes.topology, *routes.lid_map, held.first, held.second));
  }

  bool proof_is_of_tables_in_force() {
    return std::ranges::equal(context().rows, decided().routes->rows, {}, {}, &sm::RoutePart::Row::row);
  }
  void converge() {
    (*manager_)->requests().resweep(sm::Resweep::converge, "test");
    world_.run_for(60s);
  }

  using Held = std::pair<routing::Routes, std::vector<routing::oracle::McGroup>>;
  /// LFTs and MFTs as the simulated switches have them.
  Held tables_of_switches() {
    const auto& routes = *decided().routes;
    const auto& topology = *routes.topology;
    Held held{{.rows = {}, .layers = routes.layers}, {}};
    for (const auto& group : *groups_) {
      auto& [tree, members] = held.second.emplace_back();
      for (const auto& member : group.members) {
        for (const auto& end : topology.end_ports()) {
          if (end.guid == member.port) members.push_back({end.sw, end.port, member.receives});
        }
      }
    }
    for (routing::SwitchIndex s = 0; s < topology.switches(); ++s) {
      for (const auto& node : world_.fabric().state().nodes) {
        if (node.guid != topology.guid(s)) continue;
        held.first.rows.push_back(std::make_shared<const routing::LftRow>(node.sw->lft));
        for (std::size_t g = 0; g < held.second.size(); ++g)
          add_mask(s, *node.sw, (*groups_)[g].mlid, held.second[g].first);
      }
    }
    return held;
  }

 private:
  static void add_mask(routing::SwitchIndex s, const sim::SwitchTables& tables, Lid mlid,
                       routing::McTree& tree) {
    routing::McMask mask{s, {}};
    const auto first = (mlid.value() - std::size_t{0xC000}) * tables.mft_positions;
    for (std::size_t p = 0; p < tables.mft_positions * std::size_t{16}; ++p) {
      const auto word = first + p / 16;
      if (word < tables.mft.size() && (tables.mft[word] >> (p % 16) & 1U) != 0) mask.ports.set(p);
    }
    if (mask.ports.any()) tree.push_back(mask);
  }

  sim::World world_;
  std::optional<Managed> manager_;
  std::optional<mad::TaskGroup> group_;
  std::shared_ptr<const sm::GroupList> groups_;
  sim::Place lost_;
};

TEST(MulticastProof, WhatSwitchesHoldClosesNoCycleThroughJoinsAndALostCable) {
  const std::vector<std::pair<std::string, std::string>> cases{{"mesh:4x4:1", "dor"},
                                                               {"torus:4x4:1", "lash"},
                                                               {"torus:4x4:1", "dfsssp"},
                                                               {"dragonfly:4:2:2", "lash"},
                                                               {"torus:4x4:1", "nue"},
                                                               {"torus:4x4:1", "updn"},
                                                               {"torus:5x4:1+guids=7", "torus-2QoS"},
                                                               {"dragonfly:4:2:2", "nue"}};
  for (const auto& [spec, engine] : cases) {
    SCOPED_TRACE(spec + " " + engine);
    std::mt19937_64 random(3);
    ProvenFabric fabric(spec, engine);
    ASSERT_EQ(fabric.decided().routes->engine, engine);
    fabric.join(random, 6);
    EXPECT_EQ(fabric.context().not_proven, 0U);
    fabric.expect_no_cycle();
    fabric.join(random, 8);
    EXPECT_EQ(fabric.context().not_proven, 0U);
    fabric.expect_no_cycle();
    fabric.lose(random);
    fabric.expect_no_cycle();
    fabric.mend();
    fabric.expect_no_cycle();
    // Repaired paths of several layers may leave less room.
    if (engine != "lash" && engine != "dfsssp")
      EXPECT_EQ(fabric.manager().lines().first("multicast.not_proven"), "");
  }
}

/// Paths by minimum hops close credit loops in a torus by themselves.
TEST(MulticastProof, TreesWithoutAProofAreNamed) {
  std::mt19937_64 random(3);
  ProvenFabric fabric("torus:4x4:1", "minhop", true);
  ASSERT_EQ(fabric.decided().routes->engine, "minhop");
  fabric.join(random, 6);
  ASSERT_EQ(fabric.context().proof->rule, routing::McRule::none);
  EXPECT_EQ(fabric.context().trees, 6U);
  EXPECT_EQ(fabric.context().not_proven, 6U);
  EXPECT_EQ(fabric.manager().lines().count("multicast.not_proven"), 1U)
      << "when members join, not at a sweep";
  fabric.lose(random);
  EXPECT_GE(fabric.manager().lines().count("multicast.not_proven"), 1U);
  EXPECT_THAT(fabric.manager().lines().first("multicast.not_proven"), testing::HasSubstr("not_proven=6"));
}

/// Each step of the way to fresh tables has trees that are proven with it.
TEST(MulticastProof, IsOfTheTablesThatRoutesConvergeTo) {
  for (const std::string spec : {"mesh:4x4:1+guids=5", "torus:4x4:1+guids=6", "random:12:4:2:3+guids=7"}) {
    SCOPED_TRACE(spec);
    std::mt19937_64 random(4);
    ProvenFabric fabric(spec, "updn");
    fabric.join(random, 6);
    fabric.lose(random);
    fabric.mend();
    const auto proof = fabric.context().proof;
    fabric.converge();
    EXPECT_NE(fabric.context().proof, proof) << "the tables have not changed";
    fabric.expect_no_cycle();
  }
}

/// Repaired tables of one layer may leave no room for a spanning tree. Fresh ones do, whatever they carry,
/// and though no order of writes keeps all working routes.
TEST(MulticastProof, ComesBackWithFreshTables) {
  unsigned without = 0;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    std::mt19937_64 random(seed);
    ProvenFabric fabric("random:16:5:1:9+guids=64", "nue");
    fabric.join(random, 4);
    for (int i = 0; i < 8 && fabric.context().not_proven == 0; ++i) fabric.lose(random);
    if (fabric.context().not_proven == 0) continue;
    ++without;

    fabric.converge();

    EXPECT_EQ(fabric.decided().routes->engine, "nue") << seed;
    EXPECT_EQ(fabric.context().not_proven, 0U) << seed;
    fabric.expect_no_cycle();
  }
  EXPECT_GT(without, 0U) << "no seed has left trees without a proof";
}

/// A proof is for the routes: joins do not compute it anew.
TEST(MulticastProof, IsKeptWhileTheRoutesStay) {
  std::mt19937_64 random(3);
  ProvenFabric fabric("mesh:4x4:1", "dor");
  fabric.join(random, 2);
  const auto proof = fabric.context().proof;
  ASSERT_EQ(proof->rule, routing::McRule::spanning);
  fabric.join(random, 5);
  EXPECT_EQ(fabric.context().proof, proof);
  fabric.lose(random);
  EXPECT_NE(fabric.context().proof, proof);
}

}  // namespace
}  // namespace smd
