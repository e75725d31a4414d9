// SPDX-License-Identifier: Apache-2.0
#include "routing/quality/quality.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "routing/engines/engine.h"
#include "routing/engines/rank_order.h"
#include "routing/quality/levels.h"
#include "tests/support/routing_damage.h"
#include "tests/support/routing_engines.h"
#include "tests/support/routing_fabrics.h"
#include "tests/support/routing_oracle.h"
#include "tests/support/routing_trees.h"

namespace smd::routing {
namespace {

using fabrics::Routable;

RC_GTEST_PROP(Quality, LinkPathsAreThoseOfEveryPairOfHosts, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto fabric =
      fabrics::with_lids(fabrics::irregular(seed, *rc::gen::inRange(1U, 12U), 10, 20).input());
  const auto routes = routed_by(general_engines()[seed % 2], fabric);

  const auto fast =
      link_paths({fabric.topology, fabric.lids, Serial{}}, routes, hosts_in_file_order(fabric.topology));

  std::vector<std::uint64_t> slow(fabric.topology.channels());
  for (const auto& [channel, paths] : oracle::link_paths(fabric.topology, fabric.lids, routes)) {
    slow[fabric.topology.channel(channel.first, PortNum{static_cast<std::uint8_t>(channel.second)})] = paths;
  }
  RC_ASSERT(fast == slow);
}

TEST(Quality, NamesTheMostUsedLinks) {
  fabrics::Builder builder("one cable");  // two leaves, four hosts and one: all traffic over one cable
  for (int i = 0; i < 2; ++i) builder.add_switch(8);
  for (int h = 0; h < 4; ++h) builder.host(0);
  builder.host(1);
  builder.link(0, 1);
  const auto fabric = fabrics::with_lids(builder.input());

  const auto quality = measure({fabric.topology, fabric.lids, Serial{}},
                               routed_by(*find_engine("updn"), fabric), hosts_in_file_order(fabric.topology));

  EXPECT_EQ(quality.hottest,
            (std::vector<HotLink>{{0, 1, PortNum{5}, PortNum{2}, 4}, {1, 0, PortNum{2}, PortNum{5}, 4}}));
}

TEST(Levels, TellHowOversubscribedEachOfThemIs) {
  const Topology topology(fabrics::ft2(6, 2, 8, 2).input());  // 8 hosts and 4 cables upwards a leaf
  const auto one = [](SwitchIndex, PortNum) { return 1.0; };

  const auto levels = level_widths(topology, find_tree(topology), one);

  ASSERT_EQ(levels.size(), 2U);
  EXPECT_EQ(levels[0], (LevelWidth{0, 6, 48, 48, 24}));
  EXPECT_DOUBLE_EQ(levels[0].oversubscription(), 2.0);
  EXPECT_EQ(levels[1], (LevelWidth{1, 2, 0, 24, 0}));
  EXPECT_TRUE(level_widths(Topology(fabrics::torus(4, 4, 1).input()), SwitchRanking{}, one).empty());
}

class WholeTree : public testing::TestWithParam<EngineInfo> {};

TEST_P(WholeTree, IsIdeal) {
  const auto fabric = fabrics::with_lids(fabrics::ft3(8).input());
  const auto hosts = hosts_in_file_order(fabric.topology);

  const auto quality =
      measure({fabric.topology, fabric.lids, Serial{}}, routed_by(GetParam(), fabric), hosts);

  EXPECT_EQ(quality.max_link_paths, 124U);  // 4 hosts a leaf, 4 uplinks, 124 hosts elsewhere
  EXPECT_EQ(quality.shift_max, 1U);
  EXPECT_DOUBLE_EQ(quality.shift_mean, 1.0);
  EXPECT_GT(quality.ebb, 0.5);
  EXPECT_LE(quality.ebb, 1.0);
}

TEST_P(WholeTree, WithParallelCablesIsIdeal) {
  const auto fabric = fabrics::with_lids(fabrics::ft2(6, 2, 4, 2).input());
  const auto hosts = hosts_in_file_order(fabric.topology);

  const auto quality =
      measure({fabric.topology, fabric.lids, Serial{}}, routed_by(GetParam(), fabric), hosts);

  EXPECT_EQ(quality.max_link_paths, 20U);
  EXPECT_EQ(quality.shift_max, 1U);
}

TEST_P(WholeTree, IsTheSameWithManyThreads) {
  const auto fabric = fabrics::with_lids(fabrics::damaged(fabrics::ft3(8), 5, 10).input());
  const auto hosts = hosts_in_file_order(fabric.topology);
  const auto routes = routed_by(GetParam(), fabric);

  EXPECT_EQ(measure({fabric.topology, fabric.lids, Serial{}}, routes, hosts),
            measure({fabric.topology, fabric.lids, Threads{3}}, routes, hosts));
}

INSTANTIATE_TEST_SUITE_P(Engines, WholeTree, testing::ValuesIn(engines_for_trees()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Quality, AFabricWithoutHostsHasNoLoad) {
  const auto fabric = fabrics::with_lids(fabrics::ft2(2, 2, 0).input());

  const auto quality =
      measure({fabric.topology, fabric.lids, Serial{}}, routed_by(general_engines()[0], fabric), {});

  EXPECT_EQ(quality, Quality{});
}

TEST(Quality, ALeafsCablesBoundTheLoadByTime) {
  auto input = fabrics::ft2(4, 2, 3).input();  // 3 hosts and 2 cables a leaf, 9 hosts elsewhere
  const Topology even(input);
  EXPECT_DOUBLE_EQ(leaf_bound(even, hosts_in_file_order(even)), 3.0 * 9 / 2);

  for (auto& link : input.links) link.mbps = link.b == 5 ? 100 : 200;  // one spine at half of the rate
  const auto fabric = fabrics::with_lids(input);
  const auto hosts = hosts_in_file_order(fabric.topology);
  EXPECT_DOUBLE_EQ(leaf_bound(fabric.topology, hosts), 3.0 * 9 / 1.5);
  const auto routes = routed_by(*find_engine("dmodc"), fabric);
  const auto quality = measure({fabric.topology, fabric.lids, Serial{}}, routes, hosts);
  const auto paths = link_paths({fabric.topology, fabric.lids, Serial{}}, routes, hosts);
  double most = 0;
  for (SwitchIndex s = 0; s < fabric.topology.switches(); ++s) {
    for (unsigned p = 1; p <= fabric.topology.ports(s); ++p) {
      const PortNum port{static_cast<std::uint8_t>(p)};
      const auto peer = fabric.topology.peer(s, port).sw;
      if (peer == kNoSwitch) continue;
      const bool slow = fabric.topology.input_of(s) == 5 || fabric.topology.input_of(peer) == 5;
      most = std::max(most, static_cast<double>(paths[fabric.topology.channel(s, port)]) * (slow ? 2 : 1));
    }
  }
  EXPECT_DOUBLE_EQ(quality.max_link_time, most);
  EXPECT_GE(quality.max_link_time, quality.leaf_bound);
}

TEST(Quality, RankOrderListsEachHostOnceLeafByLeaf) {
  auto builder = fabrics::ft3(6);
  builder.host(0, EndKind::aggregation);
  builder.host(20);
  const auto fabric = fabrics::shuffled(fabrics::with_lids(builder.input()), builder.input(), 3);

  const auto order = rank_order({fabric.topology, fabric.lids, Serial{}}, {});

  auto sorted = order, hosts = hosts_in_file_order(fabric.topology);
  std::ranges::sort(sorted);
  std::ranges::sort(hosts);
  EXPECT_EQ(sorted, hosts);
  std::set<SwitchIndex> done;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const auto before = fabric.topology.end_ports()[order[i - 1]].sw,
               here = fabric.topology.end_ports()[order[i]].sw;
    if (before != here) EXPECT_TRUE(done.insert(before).second);
    EXPECT_FALSE(done.contains(here)) << "hosts of a leaf are together";
  }
}

TEST(Quality, ShiftsOfAWholeTreeInRankOrderDoNotCollideWhateverTheGuids) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    for (const auto& tree : {fabrics::ft3(8), fabrics::ft3(6)}) {
      const auto fabric = fabrics::with_lids(fabrics::renamed(tree.input(), seed));
      const RoutingContext context{fabric.topology, fabric.lids, Serial{}};
      const auto routes = routed_by(*find_engine("dmodc"), fabric);

      const auto quality =
          measure(context, routes, hosts_in_file_order(fabric.topology), 1, rank_order(context, {}));

      EXPECT_EQ(quality.shift_rank_max, 1U) << seed;
      EXPECT_DOUBLE_EQ(quality.shift_rank_mean, 1.0) << seed;
    }
  }
}

TEST(Quality, ShiftsInRankOrderAreThoseOfTheOrderThatIsGiven) {
  const auto fabric = fabrics::with_lids(fabrics::ft3(8).input());
  const auto hosts = hosts_in_file_order(fabric.topology);
  auto scattered = hosts;
  std::shuffle(scattered.begin(), scattered.end(), std::mt19937_64(1));
  const auto routes = routed_by(*find_engine("dmodc"), fabric);

  const auto quality = measure({fabric.topology, fabric.lids, Serial{}}, routes, scattered, 1, hosts);

  EXPECT_GT(quality.shift_max, 1U);
  EXPECT_EQ(quality.shift_rank_max, 1U);
  EXPECT_DOUBLE_EQ(quality.shift_rank_mean, 1.0);
}

/// 88 hosts are no multiple of the 14 uplinks of a leaf, and 33 none of 4.
TEST(Quality, ShiftsDoNotCollideWhereHostsAreNoMultipleOfTheUplinks) {
  for (const auto& tree : {fabrics::ft2(8, 7, 11, 2), fabrics::ft2(11, 4, 3, 1)}) {
    const auto fabric = fabrics::with_lids(fabrics::renamed(tree.input(), 5));
    const RoutingContext context{fabric.topology, fabric.lids, Serial{}};
    const auto quality = measure(context, routed_by(*find_engine("dmodc"), fabric),
                                 hosts_in_file_order(fabric.topology), 1, rank_order(context, {}));
    EXPECT_EQ(quality.shift_rank_max, 1U) << fabric.topology.switches();
  }
}

/// What has no number does not depend on what is missing.
TEST(Quality, ACableLessMovesFewEntriesWhereHostsAreNoMultipleOfTheUplinks) {
  const auto tree = fabrics::told(fabrics::renamed(fabrics::ft2(8, 7, 11, 2).input(), 5));
  const auto whole = routed_by("dmodc", tree.routable());
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const auto less = routed_by("dmodc", fabrics::damaged(tree, seed, 1, 0).routable());
    std::size_t moved = 0, all = 0;
    for (std::size_t s = 0; s < whole.rows.size(); ++s) {
      for (std::size_t lid = 0; lid < whole.rows[s]->size(); ++lid)
        moved += (*whole.rows[s])[lid] != (*less.rows[s])[lid] ? 1 : 0;
      all += whole.rows[s]->size();
    }
    EXPECT_LT(moved * 20, all) << seed;
  }
}

TEST(Quality, OneCableBetweenTwoSwitchesIsSharedByAll) {
  fabrics::Builder b;
  b.add_switch(8);
  b.add_switch(8);
  for (unsigned i = 0; i < 4; ++i) b.host(i / 2);
  b.link(0, 1);
  const auto fabric = fabrics::with_lids(b.input());

  const auto quality = measure({fabric.topology, fabric.lids, Serial{}},
                               routed_by(general_engines()[0], fabric), hosts_in_file_order(fabric.topology));

  EXPECT_EQ(quality.max_link_paths, 4U);
  EXPECT_DOUBLE_EQ(quality.mean_link_paths, 4.0);
  EXPECT_EQ(quality.shift_max, 2U);
  EXPECT_DOUBLE_EQ(quality.shift_mean, 4.0 / 3);  // by 1, 2 and 3: loads of 1, 2 and 1
}

}  // namespace
}  // namespace smd::routing
