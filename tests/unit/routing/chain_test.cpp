// SPDX-License-Identifier: Apache-2.0
// Which of several proven engines the chain takes.
#include "routing/chain/chain.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "routing/chain/compared_loads.h"
#include "routing/engines/rank_order.h"
#include "routing/quality/load.h"
#include "routing/ranking/root_sets.h"
#include "routing/verify/proof.h"
#include "tests/support/routing_engines.h"
#include "tests/support/routing_fabrics.h"

namespace smd::routing {
namespace {

using fabrics::Builder;

const std::vector<ChainLink> kChain{{"dmodc", {}}, {"updn", {}}, {"minhop", {}}};

/// A tree of 8 leaves, and one of 4 below two of these leaves.
Builder island_below_leaves() {
  Builder builder("island");
  for (int i = 0; i < 8 + 4 + 4 + 4; ++i) builder.add_switch(36);
  const auto tree = [&](SwitchIndex leaf, SwitchIndex leaves, SwitchIndex spine, int cables) {
    for (auto end = leaf + leaves; leaf < end; ++leaf) {
      for (int h = 0; h < 8; ++h) builder.host(leaf);
      for (SwitchIndex s = spine; s < spine + 4; ++s) {
        for (int c = 0; c < cables; ++c) builder.link(leaf, s);
      }
    }
  };
  tree(0, 8, 8, 2);
  tree(12, 4, 16, 1);
  builder.link(0, 16);
  builder.link(1, 17);
  return builder;
}

/// Four pods below 16 cores, and four leaves cabled to the cores of one column each; switches in an order by
/// the seed.
Builder two_heights(std::uint64_t seed) {
  constexpr SwitchIndex kPods = 4, kLeaves = 3, kAggregations = 4, kCores = 16, kHigh = 4;
  constexpr SwitchIndex kPod = kLeaves + kAggregations, kCoresAt = kPods * kPod, kHighAt = kCoresAt + kCores;
  Builder builder("heights");
  std::vector<SwitchIndex> order(kHighAt + kHigh);
  for (SwitchIndex s = 0; s < order.size(); ++s) order[s] = s;
  std::ranges::shuffle(order, std::mt19937_64(seed));
  for (std::size_t s = 0; s < order.size(); ++s) builder.add_switch(36);
  const auto leaf = [&](SwitchIndex s, SwitchIndex above, SwitchIndex cables) {
    for (int h = 0; h < 3; ++h) builder.host(order[s]);
    for (SwitchIndex c = 0; c < cables; ++c) builder.link(order[s], order[above + c]);
  };
  for (SwitchIndex pod = 0; pod < kPods; ++pod) {
    const auto aggregations = pod * kPod + kLeaves;
    for (SwitchIndex l = 0; l < kLeaves; ++l) leaf(pod * kPod + l, aggregations, kAggregations);
    for (SwitchIndex a = 0; a < kAggregations; ++a) {
      for (SwitchIndex c = 0; c < 4; ++c) builder.link(order[aggregations + a], order[kCoresAt + a * 4 + c]);
    }
  }
  for (SwitchIndex h = 0; h < kHigh; ++h) leaf(kHighAt + h, kCoresAt + h * 4, 4);
  return builder;
}

double load_of(const fabrics::Routable& fabric, const Routes& routes) {
  const Serial serial;
  const RoutingContext context{fabric.topology, fabric.lids, serial};
  return measure_load(context, routes, rank_order(context, {})).max_link_time;
}

Chosen chosen(const fabrics::Routable& fabric, std::optional<InstalledEngine> installed = {}) {
  const Serial serial;
  ChainOptions options;
  options.installed = std::move(installed);
  auto found = route_with_chain(kChain, {.context = {fabric.topology, fabric.lids, serial}}, options);
  if (found) return *std::move(found);
  ADD_FAILURE() << to_string(found.error());
  return {};
}

/// What crosses between the two trees has two cables: 32 x 64 routes.
TEST(Chain, TakesTheProvenEngineWithTheLeastLoadWhereThereIsNoTree) {
  const auto fabric = fabrics::with_lids(island_below_leaves().input());

  const auto found = chosen(fabric);

  EXPECT_EQ(found.engine, "updn");
  EXPECT_EQ(found.roots.size(), 1U) << "below the best leaf";
  EXPECT_TRUE(found.by_load);
  EXPECT_TRUE(found.verification.clean()) << describe(found.verification, fabric.topology);
  EXPECT_EQ(load_of(fabric, found.routes), 1024);
  ASSERT_EQ(found.fell_back_from.size(), 3U);
  EXPECT_NE(found.fell_back_from[1].reason.find("proven, but with"), std::string::npos);
}

TEST(Chain, KeepsTheInstalledEngineUnlessItMayChange) {
  const auto fabric = fabrics::with_lids(island_below_leaves().input());

  const auto kept = chosen(fabric, InstalledEngine{"updn"});
  const auto changed = chosen(fabric, InstalledEngine{"updn", {}, true});

  EXPECT_EQ(kept.engine, "updn");
  EXPECT_TRUE(kept.verification.clean());
  EXPECT_TRUE(kept.roots.empty());
  EXPECT_EQ(changed.engine, "updn");
  EXPECT_EQ(changed.roots.size(), 1U);
  EXPECT_LE(load_of(fabric, changed.routes), kWorthwhile * load_of(fabric, kept.routes));
}

/// Two heights of hosts: which leaf is the root decides the load, and all of them are tried.
TEST(Chain, TakesTheSameLoadWhateverTheGuids) {
  std::set<double> loads;
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    const auto fabric = fabrics::with_lids(two_heights(seed).input());
    loads.insert(load_of(fabric, chosen(fabric).routes));
  }
  EXPECT_EQ(loads.size(), 1U) << testing::PrintToString(loads);
}

TEST(Chain, TakesSeveralRootsWhereTheyCarryLess) {
  const auto fabric = fabrics::with_lids(fabrics::irregular(11, 24, 30, 3).input());
  const auto found = chosen(fabric);
  const auto one = routed_by(*find_engine("updn"), fabric);

  EXPECT_LE(load_of(fabric, found.routes), load_of(fabric, one));
}

TEST(Chain, SaysWhatAnEngineNeedsAndMayUse) {
  const auto torus = fabrics::with_lids(fabrics::torus(5, 5, 2).input());
  const std::vector<ChainLink> chain{{"dfsssp", {}}};
  const auto reason = [&](unsigned vls, unsigned sls) {
    const Serial serial;
    const auto found = route_with_chain(
        chain, {.context = {torus.topology, torus.lids, serial}, .vl_budget = vls, .sl_budget = sls});
    return found->fell_back_from.front().reason;
  };
  EXPECT_EQ(reason(1, 16), "needs 3 VLs, and may use 1");
  EXPECT_EQ(reason(1, 1), "needs 3 SLs for each class, and may use 1: all classes have 16 together")
      << "links have VLs enough";
}

/// Engines spread over all layers that they may use.
TEST(Chain, SaysTheFewestLayersThatAreEnough) {
  for (const unsigned size : {5U, 6U, 8U}) {
    const auto torus = fabrics::with_lids(fabrics::torus(size, size, 2).input());
    const std::vector<ChainLink> chain{{"dfsssp", {}}};
    const auto found = [&](unsigned layers) {
      return *route_with_chain(
          chain,
          {.context = {torus.topology, torus.lids, Serial{}}, .vl_budget = layers, .sl_budget = layers});
    };
    const auto alone = found(1);
    ASSERT_FALSE(alone.fell_back_from.empty()) << size;
    const auto& said = alone.fell_back_from.front().reason;
    unsigned needed = 0;
    ASSERT_EQ(std::sscanf(said.c_str(), "needs %u SLs", &needed), 1) << said;
    EXPECT_EQ(found(needed).engine, "dfsssp") << size;
    EXPECT_NE(found(needed - 1).engine, "dfsssp") << size;
  }
}

TEST(Chain, PaysALittleLoadForHalfOfTheShifts) {
  const RouteLoad least{.max_link_time = 100, .shift_max = 9, .mean_hops = 3, .shift_mean = 7};
  auto other = least;
  other.max_link_time = 103;
  other.shift_max = 5;
  other.shift_mean = 3;
  EXPECT_TRUE(has_half_the_shifts(other, least));
  EXPECT_FALSE(is_better(other, least)) << "more load";
  other.max_link_time = 104;
  EXPECT_FALSE(has_half_the_shifts(other, least));
  other = least;
  other.shift_max = 7;
  EXPECT_TRUE(is_better(other, least)) << "by an eighth";
  EXPECT_FALSE(has_half_the_shifts(other, least));
  other.shift_max = 8;
  EXPECT_FALSE(is_better(other, least)) << "not by a tenth";
}

TEST(Chain, ComparesNothingInATree) {
  const auto fabric = fabrics::with_lids(fabrics::ft3(8).input());

  const auto found = chosen(fabric, InstalledEngine{"minhop"});

  EXPECT_EQ(found.engine, "dmodc");
  EXPECT_FALSE(found.by_load);
  EXPECT_TRUE(found.fell_back_from.empty());
}

/// What is chosen is proven, no worse than each proven engine of the chain alone (but for a little load), and
/// the same for any number of threads.
RC_GTEST_PROP(ChainOfAnyFabric, IsProvenAndNoWorseThanItsEngines, ()) {
  const auto seed = *rc::gen::inRange<std::uint64_t>(1, 1'000'000);
  const auto switches = *rc::gen::inRange(4U, 24U), more = *rc::gen::inRange(0U, 30U);
  const auto input = fabrics::irregular(seed, switches, more, *rc::gen::inRange(1U, 4U)).input();
  const auto fabric = fabrics::with_lids(input);
  const Serial serial;
  const Threads threads{4};
  const auto found = route_with_chain(kChain, {.context = {fabric.topology, fabric.lids, serial}});
  const auto same = route_with_chain(kChain, {.context = {fabric.topology, fabric.lids, threads}});

  RC_ASSERT((found.has_value() && same.has_value()));
  RC_ASSERT(found->verification.clean());
  RC_ASSERT(found->engine == same->engine);
  for (SwitchIndex s = 0; s < found->routes.rows.size(); ++s)
    RC_ASSERT(*found->routes.rows[s] == *same->routes.rows[s]);
  RC_TAG(found->engine, !found->roots.empty());
  if (!found->by_load) return;
  for (const auto& link : kChain) {
    const auto alone = find_engine(link.engine)->run({.context = {fabric.topology, fabric.lids, serial}});
    if (!alone) continue;
    const auto proof = prove({fabric.topology, fabric.lids, serial}, *alone);
    if (proof && proof->clean() && proof->unreachable_switch_pairs == 0)
      RC_ASSERT(load_of(fabric, found->routes) <= kLittleMore * load_of(fabric, *alone));
  }
}

TEST(RootSets, AreSeveralSwitchesInTheMiddleAndFarFromLeaves) {
  const auto tree = Topology(fabrics::ft3(4).input());  // 8 leaves, 8 middle switches, 4 cores

  for (const auto& set : root_sets(tree)) {
    EXPECT_GT(set.size(), 1U);
    EXPECT_TRUE(std::ranges::is_sorted(set));
    for (const auto s : set) EXPECT_EQ(tree.hosts(s), 0U);
  }
  EXPECT_FALSE(root_sets(tree).empty());
}

}  // namespace
}  // namespace smd::routing
