// SPDX-License-Identifier: Apache-2.0
#include "routing/ranking/switch_ranking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "routing/quality/quality.h"
#include "routing/topology/equivalent_switches.h"
#include "routing/verify/verify.h"
#include "tests/support/routing_damage.h"
#include "tests/support/routing_fabrics.h"

namespace smd::routing {
namespace {

using fabrics::Builder;

/// Ranks that a tree of ft3(8) must have: 32 leaves, 32 middle switches, 16 cores, in the order of their
/// GUIDs.
void expect_three_levels(const SwitchRanking& order) {
  EXPECT_TRUE(order.tree);
  for (SwitchIndex s = 0; s < 80; ++s) {
    EXPECT_EQ(order.rank[s], s < 32 ? 2 : s < 64 ? 1 : 0) << "switch " << s;
  }
}

TEST(FindTree, FindsTheLevelsOfAWholeTree) {
  expect_three_levels(find_tree(Topology(fabrics::ft3(8).input())));
}

TEST(FindTree, IsNotMovedByHostsAndAggregationNodesOnInnerSwitches) {
  auto builder = fabrics::ft3(8);
  for (auto& spec : builder.input().switches) spec.ports += 2;
  auto& ends = builder.input().end_ports;
  ends.push_back({Guid{0x900000}, 64, PortNum{9}, EndKind::compute, {}, {}});
  for (SwitchIndex s = 32; s < 80; ++s) {
    ends.push_back({Guid{0x910000U + s}, s, PortNum{10}, EndKind::aggregation, {}, {}});
  }

  expect_three_levels(find_tree(Topology(builder.input())));
}

TEST(FindTree, IsNotMovedByAHostOnASpineOfASmallTree) {
  auto builder = fabrics::ft2(4, 2, 2);  // eight hosts: one in nine is none of a leaf
  for (auto& spec : builder.input().switches) spec.ports += 1;
  builder.input().end_ports.push_back({Guid{0x900000}, 4, PortNum{5}, EndKind::compute, {}, {}});

  const auto order = find_tree(Topology(builder.input()));

  EXPECT_TRUE(order.tree);
  for (SwitchIndex s = 0; s < 6; ++s) EXPECT_EQ(order.rank[s], s < 4 ? 1 : 0) << "switch " << s;
}

TEST(FindTree, IsNotMovedByHostsOnAllCores) {
  auto builder = fabrics::ft3(8);
  for (auto& spec : builder.input().switches) spec.ports += 1;
  for (SwitchIndex s = 64; s < 80; ++s) {
    builder.input().end_ports.push_back({Guid{0x900000U + s}, s, PortNum{9}, EndKind::compute, {}, {}});
  }

  expect_three_levels(find_tree(Topology(builder.input())));
}

TEST(FindTree, IsNotMovedByManyHostsOnInnerSwitches) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    const bool two = seed % 2 == 0;
    auto builder = two ? fabrics::ft2(8, 4, 4) : fabrics::ft3(8);
    const SwitchIndex leaves = two ? 8 : 32, all = two ? 12 : 80;
    const auto whole = find_tree(Topology(builder.input()));
    const std::size_t most = random() % 3 + 1;  // with four one of them might be a leaf, too
    const std::size_t share = random() % 4 + 1;
    for (auto& spec : builder.input().switches) spec.ports += 4;
    for (SwitchIndex s = leaves; s < all; ++s) {
      if (random() % 4 >= share) continue;
      for (std::size_t h = 0; h < most; ++h) {
        const auto port = builder.input().switches[s].ports - h;
        builder.input().end_ports.push_back({Guid{0x900000U + s * 8 + h},
                                             s,
                                             PortNum{static_cast<std::uint8_t>(port)},
                                             EndKind::compute,
                                             {},
                                             {}});
      }
    }

    const std::size_t hosts = two ? 32 : 128;
    // More than half of what is at the bottom says nothing.
    if (builder.input().end_ports.size() > hosts * 3 / 2) continue;

    const auto order = find_tree(Topology(builder.input()));

    EXPECT_TRUE(order.tree) << "seed " << seed;
    EXPECT_THAT(order.rank, testing::ElementsAreArray(whole.rank))
        << "seed " << seed << ", " << most << " hosts";
  }
}

TEST(FindTree, LiftsACoreThatLostAPod) {
  auto builder = fabrics::ft3(8);
  std::erase_if(builder.input().links, [](const LinkSpec& link) { return link.a == 32 && link.b == 64; });

  expect_three_levels(find_tree(Topology(builder.input())));
}

TEST(FindTree, ALeafWithoutHostsIsALeaf) {
  auto builder = fabrics::ft3(8);
  std::erase_if(builder.input().end_ports, [](const EndPortSpec& end) { return end.sw == 5; });

  expect_three_levels(find_tree(Topology(builder.input())));
}

TEST(FindTree, ALeafWithOneHostIsALeaf) {
  auto input = fabrics::ft3(16).input();
  bool first = true;
  std::erase_if(input.end_ports, [&](const EndPortSpec& end) {
    return end.sw == 5 && !std::exchange(first, false);  // one of eight stays
  });

  const auto order = find_tree(Topology(input));

  EXPECT_TRUE(order.tree);
  for (SwitchIndex s = 0; s < 320; ++s) EXPECT_EQ(order.rank[s], s < 128 ? 2 : s < 256 ? 1 : 0);
}

TEST(FindTree, PartlyPopulatedLeavesAreLeaves) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 random(seed);
    auto builder = fabrics::ft3(8);
    std::vector<std::uint64_t> kept(32);  // of four hosts; half of the leaves keep all
    for (auto& hosts : kept) hosts = random() % 2 == 0 ? 4 : random() % 5;
    std::erase_if(builder.input().end_ports, [&](const EndPortSpec& end) {
      if (kept[end.sw] == 0) return true;
      --kept[end.sw];
      return false;
    });

    expect_three_levels(find_tree(Topology(builder.input())));
  }
}

TEST(FindTree, AHostOnACoreMovesNothingInATreeOfFewPods) {
  for (const unsigned pods : {2U, 3U, 4U}) {
    auto whole = fabrics::told(fabrics::ft3(8).input());
    std::vector<bool> gone(80);
    for (SwitchIndex s = 0; s < 64; ++s) gone[s] = s % 32 >= pods * 4;
    auto input = fabrics::without_switches(whole, gone).input;
    input.end_ports.push_back({Guid{0x900000}, pods * 8, PortNum{8}, EndKind::compute, {}, {}});

    const auto order = find_tree(Topology(input));

    EXPECT_TRUE(order.tree);
    for (SwitchIndex s = 0; s < input.switches.size(); ++s) {
      EXPECT_EQ(order.rank[s], s < pods * 4 ? 2 : s < pods * 8 ? 1 : 0) << pods << " pods, switch " << s;
    }
  }
}

TEST(FindTree, SeesTheLevelsThroughDamage) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    expect_three_levels(find_tree(Topology(fabrics::damaged(fabrics::ft3(8), seed, 10).input())));
  }
}

TEST(FindTree, SaysThatATorusIsNone) {
  EXPECT_FALSE(find_tree(Topology(fabrics::torus(5, 5, 2).input())).tree);
  EXPECT_FALSE(find_tree(Topology(fabrics::torus(4, 4, 2).input())).tree);
}

TEST(Updn, ReachesHostsOnTwoSpinesToo) {
  auto builder = fabrics::ft2(8, 4, 4);
  builder.host(8);
  builder.host(9);
  const auto fabric = fabrics::with_lids(builder.input());

  const auto routes = find_engine("updn")->run({.context = {fabric.topology, fabric.lids, Serial{}}});

  const auto found = verify_routes({fabric.topology, fabric.lids, Serial{}}, *routes);
  EXPECT_TRUE(found.clean()) << describe(found, fabric.topology);
}

TEST(Updn, KeepsTheBalanceOfATreeWhoseCoresHaveHosts) {
  auto builder = fabrics::ft3(8);
  for (auto& spec : builder.input().switches) spec.ports = 9;
  for (const SwitchIndex core : {64U, 70U}) {  // they share no switch below
    builder.input().end_ports.push_back({Guid{0x900000U + core}, core, PortNum{9}, EndKind::compute, {}, {}});
  }
  const auto fabric = fabrics::with_lids(builder.input());
  const EngineInput in{.context = {fabric.topology, fabric.lids, Serial{}}};

  const auto refused = find_engine("dmodc")->run(in);
  const auto routes = find_engine("updn")->run(in);

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().guids, (std::vector{fabric.topology.guid(64), fabric.topology.guid(70)}));
  const auto found = verify_routes({fabric.topology, fabric.lids, Serial{}}, *routes);
  const auto quality =
      measure({fabric.topology, fabric.lids, Serial{}}, *routes, hosts_in_file_order(fabric.topology));
  EXPECT_TRUE(found.clean()) << describe(found, fabric.topology);
  EXPECT_LE(quality.max_link_paths, 140U);  // 124 without those hosts; 1,792 with one root
  EXPECT_LE(quality.shift_max, 3U);
}

TEST(Updn, HungUpATreeKeepsItsWaysThroughDamage) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    auto whole = fabrics::told(fabrics::ft3(8).input());
    for (auto& spec : whole.input.switches) spec.ports = 9;
    auto damaged = fabrics::damaged(whole, seed, seed % 3 * 6, seed % 2).input;
    std::mt19937_64 random(seed);
    for (std::uint64_t h = 0; h < seed % 5; ++h) {
      const auto s = static_cast<SwitchIndex>(random() % damaged.switches.size());
      damaged.end_ports.push_back({Guid{0x900000U + h}, s, PortNum{9}, EndKind::compute, {}, {}});
    }
    const auto fabric = fabrics::with_lids(damaged);

    const auto routes = find_engine("updn")->run({.context = {fabric.topology, fabric.lids, Serial{}}});

    const auto found = verify_routes({fabric.topology, fabric.lids, Serial{}}, *routes);
    EXPECT_TRUE(found.clean()) << "seed " << seed << ": " << describe(found, fabric.topology);
  }
}

TEST(Updn, AggregationNodesOnSpinesCostTheHostsNothing) {
  auto builder = fabrics::ft2(8, 4, 4);
  for (SwitchIndex spine = 8; spine < 12; ++spine) builder.host(spine, EndKind::aggregation);
  const auto fabric = fabrics::with_lids(builder.input());

  const auto routes = find_engine("updn")->run({.context = {fabric.topology, fabric.lids, Serial{}}});

  const auto found = verify_routes({fabric.topology, fabric.lids, Serial{}}, *routes);
  const auto quality =
      measure({fabric.topology, fabric.lids, Serial{}}, *routes, hosts_in_file_order(fabric.topology));
  EXPECT_TRUE(found.clean()) << describe(found, fabric.topology);
  EXPECT_EQ(found.unrouted_by_rule, 4U * 3U * 2U);  // between spines: each other's LID, and its node's
  EXPECT_EQ(found.unreachable_switch_pairs, 0U);
  EXPECT_EQ(quality.max_link_paths, 28U);
  EXPECT_EQ(quality.shift_max, 1U);
}

TEST(EquivalentSwitches, AreTheLeavesOfAPodAndTheCoresOfAGroup) {
  const auto equivalents = find_equivalent_switches(Topology(fabrics::ft3(8).input()));

  for (SwitchIndex s = 0; s < 32; ++s) EXPECT_EQ(equivalents[s], s / 4 * 4);
  for (SwitchIndex s = 32; s < 64; ++s) EXPECT_EQ(equivalents[s], s);
  for (SwitchIndex s = 64; s < 80; ++s) EXPECT_EQ(equivalents[s], 64 + (s - 64) / 4 * 4);
}

}  // namespace
}  // namespace smd::routing
