// SPDX-License-Identifier: Apache-2.0
// Trees that are no regular ones by design: switches below leaves, generations of leaves.
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "routing/engines/leaf_order.h"
#include "routing/quality/quality.h"
#include "routing/ranking/tree_template.h"
#include "routing/verify/verify.h"
#include "tests/support/routing_damage.h"
#include "tests/support/routing_engines.h"
#include "tests/support/routing_trees.h"

namespace smd::routing {
namespace {

using fabrics::Builder;

/// Figures of dmodc, which must not decline the fabric.
Quality dmodc_figures(const TopologyInput& input) {
  const auto fabric = fabrics::with_lids(input);
  const Serial serial;
  const RoutingContext context{fabric.topology, fabric.lids, serial};
  const auto routes = find_engine("dmodc")->run({.context = context});
  if (!routes) {
    ADD_FAILURE() << to_string(routes.error());
    return {};
  }
  const auto found = verify_routes(context, *routes);
  EXPECT_TRUE(found.clean()) << describe(found, fabric.topology);
  return measure(context, *routes, hosts_in_file_order(fabric.topology));
}

/// Leaves 0 to 7 have 8 of the 12 spines above them, leaves 8 to 15 all.
Builder two_generations(unsigned cables) {
  Builder builder("generations");
  for (int i = 0; i < 16 + 12; ++i) builder.add_switch(64);
  for (SwitchIndex leaf = 0; leaf < 16; ++leaf) {
    for (unsigned h = 0; h < 8 * cables; ++h) builder.host(leaf);
    for (SwitchIndex spine = 0; spine < (leaf < 8 ? 8U : 12U); ++spine) {
      for (unsigned c = 0; c < cables; ++c) builder.link(leaf, 16 + spine);
    }
  }
  return builder;
}

/// A switch with hosts below each of these switches, on as many cables.
Builder with_switches_below(Builder builder, std::initializer_list<SwitchIndex> leaves, int cables) {
  for (auto& spec : builder.input().switches) spec.ports += 8;
  for (const auto leaf : leaves) {
    const auto below = builder.add_switch(16);
    for (int c = 0; c < cables; ++c) builder.link(leaf, below);
    for (int h = 0; h < 4; ++h) builder.host(below);
  }
  return builder;
}

TEST(IrregularTree, LevelsAreThoseOfTheTreeAboveASwitchBelowALeaf) {
  const auto builder = with_switches_below(fabrics::ft3(8), {0, 5}, 2);  // 80 and 81
  const auto ranking = find_tree(Topology(builder.input()));

  EXPECT_TRUE(ranking.tree);
  EXPECT_EQ(ranking.rank[80], ranking.rank[0] + 1);
  EXPECT_EQ(ranking.rank[81], ranking.rank[0] + 1);
  for (SwitchIndex s = 0; s < 32; ++s) EXPECT_EQ(ranking.rank[s], 2) << s;
  for (SwitchIndex s = 32; s < 64; ++s) EXPECT_EQ(ranking.rank[s], 1) << s;
  for (SwitchIndex s = 64; s < 80; ++s) EXPECT_EQ(ranking.rank[s], 0) << s;
}

/// The cables of the leaf with the switch below it are the bound: its 8 hosts and 128 others.
/// Its LID is asked by tools. Levels from the top would leave it without a path from all leaves but one.
TEST(IrregularTree, ASwitchWithoutHostsBehindALeafStaysReachable) {
  Builder builder;
  for (int s = 0; s < 6; ++s) builder.add_switch(36);
  enum : SwitchIndex { one, two, spine, tail, behind, large };
  const std::pair<SwitchIndex, SwitchIndex> cables[] = {
      {one, spine}, {one, spine}, {one, spine},   {two, spine},  {two, spine},
      {one, two},   {one, large}, {large, spine}, {spine, tail}, {tail, behind}};
  for (const auto& [a, b] : cables) builder.link(a, b);
  const std::pair<SwitchIndex, int> hosts[] = {{one, 6}, {two, 9}, {spine, 1}, {tail, 1}, {large, 5}};
  for (const auto& [s, count] : hosts) {
    for (int h = 0; h < count; ++h) builder.host(s);
  }
  const auto fabric = fabrics::with_lids(builder.input());

  std::size_t routed = 0;
  for (const auto& engine : engines_for_trees()) {
    const auto routes = engine.run({.context = {fabric.topology, fabric.lids, Serial{}}});
    if (!routes || engine.name == "dnup") continue;  // dnup goes down first
    ++routed;
    EXPECT_EQ(verify_routes({fabric.topology, fabric.lids, Serial{}}, *routes).unrouted_by_rule, 0U)
        << engine.name;
  }
  EXPECT_GE(routed, 2U);
}

TEST(IrregularTree, ASwitchBelowALeafCostsTheOthersNothing) {
  const auto quality = dmodc_figures(with_switches_below(fabrics::ft3(8), {0, 5}, 2).input());

  EXPECT_LE(static_cast<double>(quality.max_link_paths), 1.1 * quality.leaf_bound);
}

/// The radius of nine of ten leaves is that of the spines and of the leaves that have such a switch.
TEST(IrregularTree, SmallSwitchesBelowAFewLeavesMakeNoTopOfThese) {
  struct Row {
    unsigned small, cables, leaves, hosts, spines;
    std::uint64_t load;  ///< at most; 448 to 5,248 when GUIDs decided
  };
  for (const auto& row : {Row{2, 2, 12, 12, 6, 408},
                          {2, 1, 16, 16, 8, 1040},
                          {1, 2, 8, 8, 4, 168},
                          {3, 2, 20, 12, 6, 708},
                          {4, 1, 30, 12, 6, 1488}}) {
    auto fabric = fabrics::ft2(row.leaves, row.spines, row.hosts);
    for (SwitchIndex leaf = 0; leaf < row.small; ++leaf) {
      const auto below = fabric.add_switch(16);
      for (unsigned c = 0; c < row.cables; ++c) fabric.link(leaf, below);
      for (int h = 0; h < 4; ++h) fabric.host(below);
    }
    for (const std::uint64_t seed : {0U, 1U, 2U, 3U, 4U, 5U}) {
      const auto input = fabrics::renamed(fabric.input(), seed);
      const auto ranking = find_tree(Topology(input));
      std::array<std::size_t, 3> count{};
      for (const auto rank : ranking.rank) ++count.at(static_cast<std::size_t>(rank));
      EXPECT_TRUE(ranking.tree);
      EXPECT_EQ(count, (std::array<std::size_t, 3>{row.spines, row.leaves, row.small})) << seed;
      EXPECT_LE(dmodc_figures(input).max_link_paths, row.load) << row.leaves << " leaves " << seed;
    }
  }
}

/// In a tree of three levels also those of the cores and of the switches of a pod above such a leaf.
TEST(IrregularTree, SmallSwitchesBelowAFewLeavesMakeNoTopOfSwitchesOfPods) {
  auto fabric = fabrics::ft3(6);  // leaves 0 to 17, three a pod
  for (auto& spec : fabric.input().switches) spec.ports += 2;
  for (const SwitchIndex leaf : {0U, 3U, 6U}) {
    const auto below = fabric.add_switch(16);
    for (int c = 0; c < 2; ++c) fabric.link(leaf, below);
    for (int h = 0; h < 2; ++h) fabric.host(below);
  }
  std::set<std::uint64_t> loads;
  for (const std::uint64_t seed : {0U, 1U, 2U, 3U, 4U, 5U}) {
    const auto input = fabrics::renamed(fabric.input(), seed);
    std::array<std::size_t, 4> count{};
    for (const auto rank : find_tree(Topology(input)).rank) ++count.at(static_cast<std::size_t>(rank));
    EXPECT_EQ(count, (std::array<std::size_t, 4>{9, 18, 18, 3})) << seed;
    loads.insert(dmodc_figures(input).max_link_paths);
  }
  EXPECT_EQ(loads.size(), 1U) << testing::PrintToString(loads);
}

/// With fewer than a quarter of a leaf's hosts they are no leaves by their hosts.
TEST(IrregularTree, ASwitchWithFewHostsBelowALeafIsNoTop) {
  auto fabric = fabrics::ft2(7, 8, 9);
  for (const SwitchIndex leaf : {0U, 1U}) {
    const auto below = fabric.add_switch(16);
    for (unsigned c = 0; c < 3; ++c) fabric.link(leaf, below);
    for (int h = 0; h < 2; ++h) fabric.host(below);
  }
  const auto ranking = find_tree(Topology(fabric.input()));

  EXPECT_TRUE(ranking.tree);
  EXPECT_EQ(ranking.rank[0], 1);
  EXPECT_EQ(ranking.rank[7], 0);
  for (const SwitchIndex below : {15U, 16U}) EXPECT_EQ(ranking.rank[below], 2);
  EXPECT_LE(dmodc_figures(fabric.input()).max_link_paths, 120U);
}

/// A switch above that has lost a cable reaches some leaves downwards no more, as in any tree.
/// All leaves have the same ports to the same spines: each destination goes up to one spine.
TEST(IrregularTree, LeavesThatACableJoinsSendToOthersAsAllLeavesDo) {
  for (const auto& [one, other] : {std::pair(2U, 11U), {10U, 5U}}) {
    auto joined = fabrics::ft2(12, 8, 4);
    for (int cable = 0; cable < 2; ++cable) joined.link(one, other);
    const auto fabric = fabrics::with_lids(joined.input());
    const auto routes = find_engine("dmodc")->run({.context = {fabric.topology, fabric.lids, Serial{}}});
    ASSERT_TRUE(routes);
    for (std::size_t value = 1; value < fabric.lids.row_size(); ++value) {
      const auto to = fabric.lids.destination(Lid{static_cast<std::uint16_t>(value)});
      if (to.end == kNoEnd || to.sw == one || to.sw == other) continue;
      const auto& usual = *routes->rows[to.sw == 0 ? 1 : 0];
      for (const auto leaf : {one, other})
        EXPECT_EQ((*routes->rows[leaf])[value], usual[value]) << leaf << ' ' << value;
    }
  }
}

TEST(IrregularTree, MiddleSwitchesWithoutLeavesTakeNoTurns) {
  Builder builder("spare");
  // Of each pod two leaves and five middle switches, then three cores.
  for (int i = 0; i < 5 * 7 + 3; ++i) builder.add_switch(36);
  for (SwitchIndex leaf = 0; leaf < 35; leaf += leaf % 7 == 0 ? 1 : 6) {
    for (int h = 0; h < 2; ++h) builder.host(leaf);
    for (SwitchIndex used = 2; used < 4; ++used) builder.link(leaf, leaf - leaf % 7 + used);
  }
  for (SwitchIndex pod = 0; pod < 35; pod += 7) {
    for (SwitchIndex middle = 2; middle < 7; ++middle) {
      for (SwitchIndex core = 35; core < 38; ++core) builder.link(pod + middle, core);
    }
  }
  const auto found = dmodc_figures(builder.input());

  EXPECT_EQ(static_cast<double>(found.max_link_paths), found.leaf_bound);
}

TEST(IrregularTree, ASwitchBelowALeafAndAMissingCableAreStillATree) {
  const auto whole = with_switches_below(fabrics::ft3(8), {0, 5}, 2).input();
  const auto bound = dmodc_figures(whole).max_link_paths;
  for (std::size_t i = 0; i < whole.links.size(); i += 7) {
    auto input = whole;
    if (std::max(input.links[i].a, input.links[i].b) >= 80) continue;  // to a switch below
    input.links.erase(input.links.begin() + static_cast<std::ptrdiff_t>(i));

    EXPECT_LE(dmodc_figures(input).max_link_paths, 3 * bound / 2) << i;
  }
}

TEST(IrregularTree, TwoGenerationsOfLeavesAreTwoGroups) {
  const Topology topology(two_generations(1).input());

  const auto shape = find_tree_template(topology, find_tree(topology));

  EXPECT_EQ(shape.of(0).width(), 8U);
  EXPECT_EQ(shape.of(0).members.size(), 8U);
  EXPECT_TRUE(shape.of(0).gone.empty());
  EXPECT_EQ(shape.of(8).width(), 12U);
  ASSERT_EQ(shape.of(8).shared.size(), 1U);
  EXPECT_EQ(shape.of(8).shared.front().size(), 8U);
}

TEST(IrregularTree, ALeafWithoutACableStaysInItsGeneration) {
  auto input = two_generations(1).input();
  std::erase_if(input.links, [](const LinkSpec& link) {
    return (link.a == 0 && link.b == 18) || (link.a == 8 && link.b == 18);
  });
  const Topology topology(input);

  const auto shape = find_tree_template(topology, find_tree(topology));

  EXPECT_EQ(shape.of(0).members.size(), 8U);
  EXPECT_EQ(shape.of(0).width(), 8U);
  EXPECT_EQ(shape.of(8).members.size(), 8U);
  EXPECT_EQ(shape.of(8).width(), 12U);
}

TEST(IrregularTree, TwoGenerationsOfLeavesHaveHardlyACollisionInShifts) {
  for (const auto cables : {1U, 2U}) {
    const auto quality = dmodc_figures(two_generations(cables).input());

    EXPECT_LE(static_cast<double>(quality.max_link_paths), 4.0 / 3.0 * quality.leaf_bound) << cables;
    EXPECT_LE(quality.shift_max, cables + 1) << cables;
  }
}

}  // namespace
}  // namespace smd::routing
