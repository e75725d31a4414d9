// SPDX-License-Identifier: Apache-2.0
// Multicast trees and the unicast paths of layer 0 together, against an oracle that follows every packet.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "routing/multicast/check.h"
#include "routing/multicast/turn_graph.h"
#include "routing/multicast/turns.h"
#include "routing/repair/extend_layers.h"
#include "routing/verify/verify.h"
#include "tests/support/multicast_oracle.h"
#include "tests/support/routing_damage.h"
#include "tests/support/routing_engines.h"
#include "tests/support/spec_topology.h"

namespace smd::routing {
namespace {

using fabrics::Routable;

/// A fabric with routes, and groups whose trees grow by the rule that is proven.
class ProvenGroups {
 public:
  ProvenGroups(const Routable& fabric, const Routes& routes)
      : fabric_(fabric),
        routes_(routes),
        ranking_(find_tree(fabric.topology)),
        found_(verify_routes({fabric.topology, fabric.lids, Serial{}}, routes)) {
    prove(false);
  }

  void prove(bool without_ranking) {
    proof_ =
        prove_trees({fabric_.topology, fabric_.lids, Serial{}}, routes_, found_, ranking_, without_ranking);
  }
  const McProof& proof() const { return proof_; }
  const SwitchRanking& ranking() const { return ranking_; }

  /// Members at random; false if the tree does not keep to the rule.
  bool add_group(std::mt19937_64& random, std::size_t count) {
    std::vector<McMember> members;
    const auto ends = fabric_.topology.end_ports();
    for (std::size_t i = 0; i < count && !ends.empty(); ++i) {
      const auto& end = ends[random() % ends.size()];
      if (end.sw != kNoSwitch) members.push_back({end.sw, end.port, random() % 4 != 0});
    }
    return add_group(members, proof_.rule == McRule::spanning);
  }
  bool add_group(const std::vector<McMember>& members, bool in_spanning) {
    const McLoads none(fabric_.topology);
    const auto tree = grow_tree(in_spanning ? proof_.cables : fabric_.topology,
                                in_spanning ? proof_.ranking : ranking_, {}, members, none);
    groups_.emplace_back(tree, members);
    return keeps_to(proof_, fabric_.topology, ranking_, tree);
  }
  void clear() { groups_.clear(); }
  const std::vector<oracle::McGroup>& groups() const { return groups_; }
  bool cycle() const { return oracle::multicast_cycle(fabric_.topology, fabric_.lids, routes_, groups_); }

 private:
  const Routable& fabric_;
  const Routes& routes_;
  SwitchRanking ranking_;
  Verification found_;
  McProof proof_;
  std::vector<oracle::McGroup> groups_;
};

std::vector<McMember> everyone(const Topology& topology) {
  std::vector<McMember> members;
  for (const auto& end : topology.end_ports()) members.push_back({end.sw, end.port, true});
  return members;
}

TEST(MulticastTurns, TreesOfFatTreesKeepTheirRanking) {
  for (const auto& builder : {fabrics::ft2(6, 3, 4, 2), fabrics::ft3(4)}) {
    const auto fabric = fabrics::with_lids(builder.input());
    for (const auto& engine : engines_for_trees()) {
      const auto routes = routed_by(engine, fabric);
      ProvenGroups groups(fabric, routes);
      EXPECT_EQ(groups.proof().rule, McRule::ranking) << engine.name;
      EXPECT_TRUE(groups.add_group(everyone(fabric.topology), false));
      EXPECT_FALSE(groups.cycle()) << engine.name;
    }
  }
}

/// A mesh by dimension order: paths turn from x to y only, up/down paths turn both ways.
TEST(MulticastTurns, WhereTheRankingClosesACycleASpanningTreeDoesNot) {
  const auto fabric = fabrics::with_lids(fabrics::torus(4, 4, 1, false).input());
  const auto routes = routed_by("dor", fabric);
  ProvenGroups groups(fabric, routes);
  ASSERT_EQ(groups.proof().rule, McRule::spanning);
  EXPECT_EQ(groups.proof().cables.cables(), 15U);

  // As without the proof: some trees by the ranking close a cycle with the paths.
  bool cycle = false;
  std::mt19937_64 random(1);
  for (int i = 0; i < 40 && !cycle; ++i) {
    std::vector<McMember> members;
    for (const auto& end : fabric.topology.end_ports()) {
      if (random() % 2 == 0) members.push_back({end.sw, end.port, true});
    }
    groups.add_group(members, false);
    cycle = groups.cycle();
  }
  EXPECT_TRUE(cycle);

  groups.clear();
  EXPECT_TRUE(groups.add_group(everyone(fabric.topology), true));
  EXPECT_FALSE(groups.cycle());
}

/// The paths of a torus by minimum hops close a cycle by themselves.
TEST(MulticastTurns, NothingIsProvenWhereUnicastPathsCloseACycle) {
  const auto fabric = fabrics::with_lids(fabrics::torus(4, 4, 1).input());
  const auto routes = routed_by("minhop", fabric);
  ASSERT_FALSE(verify_routes({fabric.topology, fabric.lids, Serial{}}, routes).ok());
  ProvenGroups groups(fabric, routes);
  EXPECT_EQ(groups.proof().rule, McRule::none);
  EXPECT_FALSE(groups.add_group(everyone(fabric.topology), false));
}

/// Engines with layers fill layer 0 with unicast paths first, as far as a tree leaves room.
TEST(MulticastTurns, EnginesWithLayersLeaveRoomForATree) {
  for (const auto* spec : {"torus:4x4:1", "torus:5x5:2+guids=3", "torus:4x4x4:1", "torus:5x4x3:1+cut=4:7",
                           "dragonfly:4:2:2", "hyperx:4x4:2", "random:24:6:5:1", "random:40:6:2:9+guids=2"}) {
    const auto fabric = fabrics::with_lids(fabrics::of_spec(spec).input);
    for (const auto* engine : {"dfsssp", "lash"}) {
      SCOPED_TRACE(testing::Message() << engine << ' ' << spec);
      const auto routes =
          find_engine(engine)->run({.context = {fabric.topology, fabric.lids, Serial{}}, .vl_budget = 8});
      if (!routes) continue;
      ProvenGroups groups(fabric, *routes);
      EXPECT_NE(groups.proof().rule, McRule::none);
      if (!groups.add_group(everyone(fabric.topology), groups.proof().rule == McRule::spanning)) {
        groups.prove(true);
        groups.clear();
        EXPECT_TRUE(groups.add_group(everyone(fabric.topology), true));
      }
      std::mt19937_64 random(1);
      EXPECT_TRUE(groups.add_group(random, 5) || groups.proof().rule == McRule::ranking);
      EXPECT_FALSE(groups.cycle());
    }
  }
}

/// Second LIDs take other ways: no layer has room for the tree from the middle, but some has for another.
TEST(MulticastTurns, EnginesWithLayersLeaveRoomForATreeWithTwoLids) {
  for (const auto* spec :
       {"dragonfly:4:2:1+guids=5", "dragonfly:4:2:2+guids=13", "dragonfly:3:2:2+guids=468",
        "torus:3x5:3+guids=69+cut=3:59", "random:24:5:3:9+guids=53", "random:24:6:1:5+guids=5"}) {
    const auto fabric = fabrics::with_lids(fabrics::of_spec(spec).input, 1);
    for (const auto* engine : {"dfsssp", "lash"}) {
      SCOPED_TRACE(testing::Message() << engine << ' ' << spec);
      const auto routes =
          find_engine(engine)->run({.context = {fabric.topology, fabric.lids, Serial{}}, .vl_budget = 8});
      ASSERT_TRUE(routes) << to_string(routes.error());
      ProvenGroups groups(fabric, *routes);
      groups.prove(true);
      EXPECT_EQ(groups.proof().rule, McRule::spanning);
      EXPECT_TRUE(groups.add_group(everyone(fabric.topology), true));
      EXPECT_FALSE(groups.cycle());
    }
  }
}

/// What packets in a spanning tree wait for, and the tree itself.
std::pair<std::vector<ReservedWait>, McTree> spanning_tree(const Topology& cables) {
  std::pair<std::vector<ReservedWait>, McTree> found;
  for (SwitchIndex s = 0; s < cables.switches(); ++s) {
    McMask mask{s, {}};
    for (unsigned p = 1; p <= cables.ports(s); ++p) {
      const auto from = cables.peer(s, PortNum{static_cast<std::uint8_t>(p)});
      if (from.sw == kNoSwitch) continue;
      mask.ports.set(p);
      for (unsigned out = 1; out <= cables.ports(s); ++out) {
        const PortNum then{static_cast<std::uint8_t>(out)};
        if (out != p && cables.peer(s, then).sw != kNoSwitch)
          found.first.push_back({from.sw, from.port, then});
      }
    }
    found.second.push_back(mask);
  }
  return found;
}

/// Any cable that the tree does not use fails: paths go round it, and the tree stays proven.
TEST(MulticastTurns, ARepairClosesNoCycleWithWhatIsReserved) {
  for (const auto* spec : {"torus:4x4:1+guids=3", "torus:5x5:1+guids=4", "dragonfly:4:2:2"}) {
    SCOPED_TRACE(spec);
    const auto whole = fabrics::told(fabrics::of_spec(spec).input);
    const auto fabric = whole.routable();
    const auto routes = routed_by("nue", fabric);
    ProvenGroups groups(fabric, routes);
    groups.prove(true);
    ASSERT_EQ(groups.proof().rule, McRule::spanning);
    const auto& cables = groups.proof().cables;
    const auto [waits, tree] = spanning_tree(cables);
    const PairLayers one(fabric.topology.switches(), 0);
    std::size_t repaired = 0;
    for (std::size_t i = 0; i < whole.input.links.size(); ++i) {
      const auto& link = whole.input.links[i];
      if (cables.peer(cables.find(whole.input.switches[link.a].guid), link.a_port).sw != kNoSwitch) continue;
      auto less = whole;
      less.input.links.erase(less.input.links.begin() + static_cast<std::ptrdiff_t>(i));
      const auto damaged = less.routable();
      auto result = extend_layers({.context = {damaged.topology, damaged.lids, Serial{}},
                                   .old = routes.rows,
                                   .now = one,
                                   .home = one,
                                   .most_layers = 1,
                                   .reserved = waits});
      if (!result) continue;
      ++repaired;
      result->routes.layers = {};
      const std::vector<oracle::McGroup> all{{tree, everyone(damaged.topology)}};
      EXPECT_FALSE(oracle::multicast_cycle(damaged.topology, damaged.lids, result->routes, all)) << i;
    }
    EXPECT_NE(repaired, 0U);
  }
}

TEST(MulticastTurns, ATreeThatGoesUpAfterItWentDownDoesNotKeepToTheRanking) {
  const auto fabric = fabrics::with_lids(fabrics::ft2(2, 2, 1).input());
  const auto& topology = fabric.topology;
  const auto routes = routed_by("updn", fabric);
  ProvenGroups groups(fabric, routes);
  ASSERT_EQ(groups.proof().rule, McRule::ranking);
  // Both spines and one leaf between them.
  McTree tree;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    McMask mask{s, {}};
    for (unsigned p = 1; p <= topology.ports(s); ++p) {
      const auto far = topology.peer(s, PortNum{static_cast<std::uint8_t>(p)}).sw;
      if (far != kNoSwitch && (s == 0 || far == 0)) mask.ports.set(p);
    }
    if (mask.ports.any()) tree.push_back(mask);
  }
  ASSERT_EQ(topology.hosts(0), 1U);
  EXPECT_FALSE(keeps_to(groups.proof(), topology, groups.ranking(), tree));
}

Routable any_fabric_for_groups() {
  if (*rc::gen::arbitrary<bool>()) {
    const auto width = *rc::gen::inRange(2U, 6U);
    return fabrics::with_lids(
        fabrics::torus(width, *rc::gen::inRange(2U, 5U), 1, *rc::gen::arbitrary<bool>()).input());
  }
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto switches = *rc::gen::inRange(2U, 16U);
  return fabrics::with_lids(
      fabrics::irregular(seed, switches, *rc::gen::inRange(0U, 2 * switches), *rc::gen::inRange(1U, 24U))
          .input());
}

RC_GTEST_PROP(MulticastTurns, WhatIsProvenClosesNoCycleWhoeverSends, ()) {
  const auto fabric = any_fabric_for_groups();
  const auto engine =
      *rc::gen::element<std::string>("updn", "nue", "dfsssp", "lash", "dor", "minhop", "torus-2QoS");
  const auto routes = find_engine(engine)->run(
      {.context = {fabric.topology, fabric.lids, Serial{}}, .vl_budget = *rc::gen::inRange(1U, 9U)});
  RC_TAG(engine, routes.has_value());
  if (!routes) return;
  ProvenGroups groups(fabric, *routes);
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
  bool all = groups.proof().rule != McRule::none;
  for (int i = 0; i < 6; ++i) all = groups.add_group(random, 1 + random() % 6) && all;
  if (!all && groups.proof().rule == McRule::ranking) {
    groups.prove(true);
    groups.clear();
    all = groups.proof().rule != McRule::none;
    for (int i = 0; i < 6; ++i) all = groups.add_group(random, 1 + random() % 6) && all;
  }
  RC_TAG(engine, all ? "proven" : "not proven");
  RC_ASSERT(all || groups.proof().rule == McRule::none);
  if (all) RC_ASSERT(!groups.cycle());
  for (const auto& [tree, members] : groups.groups()) {
    for (const auto& sender : members) RC_ASSERT(deliver(fabric.topology, tree, members, sender).sound());
  }
}

/// VLs that depend on turns: what an oracle of every hop finds, from the largest groups there are.
TEST(MulticastTurns, TreesOfATorusWithVlsByPortCloseNoCycle) {
  for (unsigned x = 3; x <= 6; ++x) {
    for (unsigned y = 3; y <= 6; ++y) {
      const auto fabric = fabrics::with_lids(fabrics::torus(x, y, 1).input());
      for (const unsigned vls : {2U, 4U, 8U}) {
        const auto routes =
            find_engine("torus-2QoS")
                ->run({.context = {fabric.topology, fabric.lids, Serial{}}, .vl_budget = vls});
        if (!routes) continue;
        ProvenGroups groups(fabric, *routes);
        if (groups.proof().rule == McRule::none) continue;
        ASSERT_TRUE(groups.add_group(everyone(fabric.topology), groups.proof().rule == McRule::spanning));
        EXPECT_FALSE(groups.cycle()) << x << " x " << y << ", " << vls << " VLs";
      }
    }
  }
}

/// The VL after each turn is among those that the next turn takes packets to come in on.
TEST(MulticastTurns, VlsByPortAreThoseOfTheTurnBefore) {
  const auto fabric = fabrics::with_lids(fabrics::torus(4, 4, 1).input());
  const auto& topology = fabric.topology;
  const auto routes =
      find_engine("torus-2QoS")->run({.context = {topology, fabric.lids, Serial{}}, .vl_budget = 8});
  ASSERT_TRUE(routes.has_value());
  ASSERT_TRUE(routes->layers.vls.by_port());
  bool turned = false;
  const auto for_ports = [&](SwitchIndex s, const auto& fn) {
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      for (const auto port : topology.group(s, g).ports) fn(port);
    }
  };
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    for_ports(s, [&](PortNum in) {
      for_ports(s, [&](PortNum out) {
        const auto far = topology.peer(s, out);
        const auto after = vls_of(topology, routes->layers.vls, {s, in, out}).after;
        turned = turned || after == 2;
        for_ports(far.sw, [&](PortNum next) {
          EXPECT_NE(vls_of(topology, routes->layers.vls, {far.sw, far.port, next}).before >> after & 1U, 0U);
        });
      });
    });
  }
  EXPECT_TRUE(turned);
}

std::string rule_of(std::string_view engine, const Routable& fabric, unsigned vls) {
  const auto routes = find_engine(engine)->run(
      {.context = {fabric.topology, fabric.lids, Serial{}}, .vl_budget = vls, .sl_budget = 8});
  if (!routes) return "refused";
  switch (ProvenGroups(fabric, *routes).proof().rule) {
    case McRule::ranking:
      return "ranking";
    case McRule::spanning:
      return "spanning";
    default:
      return "none";
  }
}

/// The table of docs/multicast.md.
TEST(MulticastTurns, EnginesLeaveRoomAsDocumented) {
  const std::string order = "updn nue dor torus-2QoS lash dfsssp";
  const std::vector<std::pair<std::string, std::string>> rules{
      {"torus:4x4", "spanning spanning spanning spanning spanning spanning"},
      {"torus:4x4x4", "spanning spanning spanning spanning spanning ranking"},
      {"dragonfly:4:2:2", "spanning spanning refused refused spanning ranking"},
      {"hyperx:4x4", "ranking spanning spanning refused spanning spanning"},
      {"random:24:6:5:1", "spanning spanning refused refused spanning spanning"}};
  for (const auto& [spec, expected] : rules) {
    const auto fabric = fabrics::with_lids(fabrics::of_spec(spec).input);
    std::string found;
    std::istringstream engines(order);
    for (std::string engine; engines >> engine;)
      found += (found.empty() ? "" : " ") + rule_of(engine, fabric, 8);
    EXPECT_EQ(found, expected) << spec;
  }
}

/// SMD_LONG prints the times of the largest fat tree.
TEST(MulticastTurns, BothRulesHoldInAFatTree) {
  const auto fabric = fabrics::with_lids(fabrics::ft3(std::getenv("SMD_LONG") != nullptr ? 56 : 8).input());
  const auto routes = routed_by("updn", fabric);
  const auto ranking = find_tree(fabric.topology);
  const auto found = verify_routes({fabric.topology, fabric.lids, Serial{}}, routes);
  for (const bool without : {false, true}) {
    const auto begin = std::chrono::steady_clock::now();
    const auto proof = prove_trees({fabric.topology, fabric.lids, Serial{}}, routes, found, ranking, without);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(proof.rule, without ? McRule::spanning : McRule::ranking);
    if (fabric.topology.switches() > 1000) std::cout << took.count() << " ms\n";
  }
}

}  // namespace
}  // namespace smd::routing
