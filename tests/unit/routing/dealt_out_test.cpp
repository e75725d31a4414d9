// SPDX-License-Identifier: Apache-2.0
#include "routing/cabling/dealt_out.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

#include "routing/cabling/health.h"
#include "routing/cabling/levels.h"
#include "tests/support/health.h"
#include "tests/support/routing_fabrics.h"
#include "tests/support/routing_trees.h"

namespace smd::routing {
namespace {

/// Pods of four leaves. The uplinks of the middle switches of a pod go to the cores in turns.
struct Dealt {
  SwitchIndex pods = 0, middles = 0, uplinks = 0, cores = 0;

  SwitchIndex first_core() const { return pods * (4 + middles); }

  TopologyInput input() const {
    fabrics::Builder builder("dealt out");
    for (SwitchIndex i = 0; i < first_core() + cores; ++i) builder.add_switch(64);
    for (SwitchIndex pod = 0; pod < pods; ++pod) {
      const auto leaves = pod * 4, middle = pods * 4 + pod * middles;
      for (SwitchIndex leaf = leaves; leaf < leaves + 4; ++leaf) {
        for (int h = 0; h < 4; ++h) builder.host(leaf);
        for (SwitchIndex m = 0; m < middles; ++m) builder.link(leaf, middle + m);
      }
      for (SwitchIndex u = 0; u < middles * uplinks; ++u)
        builder.link(middle + u / uplinks, first_core() + u % cores);
    }
    return builder.input();
  }
};

std::vector<Finding> faults(const TopologyInput& input) {
  auto findings = examined(input).findings;
  std::erase_if(findings, [](const Finding& finding) { return !is_fault(finding); });
  return findings;
}

TEST(DealtOut, SaysNothingOfWholeTrees) {
  for (const auto& [pods, middles, uplinks, cores] :
       {Dealt{6, 4, 6, 7}, Dealt{2, 5, 8, 7}, Dealt{2, 6, 6, 5}, Dealt{2, 5, 7, 15}, Dealt{6, 6, 6, 11},
        Dealt{2, 4, 7, 3}, Dealt{2, 6, 7, 16}, Dealt{3, 6, 3, 8}, Dealt{3, 5, 7, 10}, Dealt{4, 5, 2, 3},
        Dealt{2, 5, 2, 3}}) {
    const auto found = faults(Dealt{pods, middles, uplinks, cores}.input());

    EXPECT_THAT(found, testing::IsEmpty())
        << pods << ' ' << middles << ' ' << uplinks << ' ' << cores << ": " << found.front().text;
  }
}

/// One pod of so many leaves. Two of three middle switches have most cores in common.
TopologyInput one_pod(const Dealt& spec, SwitchIndex leaves, SwitchIndex cables) {
  fabrics::Builder builder("one pod");
  const auto first_core = leaves + spec.middles;
  for (SwitchIndex i = 0; i < first_core + spec.cores; ++i) builder.add_switch(64);
  for (SwitchIndex leaf = 0; leaf < leaves; ++leaf) {
    for (int h = 0; h < 2; ++h) builder.host(leaf);
    for (SwitchIndex c = 0; c < cables; ++c) builder.link(leaf, leaves + c % spec.middles);
  }
  for (SwitchIndex u = 0; u < spec.middles * spec.uplinks; ++u)
    builder.link(leaves + u / spec.uplinks, first_core + u % spec.cores);
  return builder.input();
}

TEST(DealtOut, SaysNothingOfOnePod) {
  for (const auto& [spec, leaves, cables] :
       {std::tuple{Dealt{1, 1, 5, 3}, 2U, 3U}, std::tuple{Dealt{1, 3, 5, 9}, 2U, 6U},
        std::tuple{Dealt{1, 3, 5, 13}, 5U, 3U}, std::tuple{Dealt{1, 2, 5, 6}, 4U, 2U}}) {
    const auto found = faults(one_pod(spec, leaves, cables));

    EXPECT_THAT(found, testing::IsEmpty())
        << spec.middles << ' ' << spec.uplinks << ' ' << spec.cores << ": " << found.front().text;
  }
}

/// Leaves have cables to the first two of four middle switches.
TEST(DealtOut, LeavesMiddleSwitchesWithoutLeavesAtTheirLevel) {
  constexpr SwitchIndex kPods = 5, kLeaves = 3, kMiddles = 4, kOfPod = kLeaves + kMiddles, kCores = 3;
  fabrics::Builder builder("middle switches without leaves");
  for (SwitchIndex i = 0; i < kPods * kOfPod + kCores; ++i) builder.add_switch(64);
  for (SwitchIndex pod = 0; pod < kPods; ++pod) {
    const auto leaves = pod * kOfPod, middles = leaves + kLeaves;
    for (auto leaf = leaves; leaf < middles; ++leaf) {
      for (int h = 0; h < 5; ++h) builder.host(leaf);
      for (SwitchIndex m = 0; m < 2; ++m) builder.link(leaf, middles + m);
    }
    for (SwitchIndex u = 0; u < kMiddles * 5; ++u) builder.link(middles + u / 5, kPods * kOfPod + u % kCores);
  }
  const Topology topology(builder.input());

  const auto ranking = find_levels(topology, find_tree(topology));

  for (SwitchIndex pod = 0; pod < kPods; ++pod) {
    const auto middle = pod * kOfPod + kLeaves;
    for (SwitchIndex m = 1; m < kMiddles; ++m)
      EXPECT_EQ(ranking.rank[middle + m], ranking.rank[middle]) << pod << ' ' << m;
  }
}

TEST(DealtOut, ThatSomeHaveACableAndOthersAnotherIsNoDifference) {
  for (const auto& [pods, middles, uplinks, cores] :
       {Dealt{3, 4, 4, 9}, Dealt{5, 3, 6, 7}, Dealt{6, 2, 4, 3}, Dealt{4, 4, 3, 7}}) {
    const auto found = examined(Dealt{pods, middles, uplinks, cores}.input()).findings;

    EXPECT_THAT(found, testing::IsEmpty())
        << pods << ' ' << middles << ' ' << uplinks << ' ' << cores << ": " << found.front().text;
  }
}

TEST(DealtOut, FindsTheCableThatIsMissing) {
  const Dealt tree{6, 4, 6, 7};
  const auto whole = tree.input();
  for (std::size_t i = 0; i < whole.links.size(); ++i) {
    if (whole.links[i].b < tree.first_core()) continue;
    auto input = whole;
    input.links.erase(input.links.begin() + static_cast<std::ptrdiff_t>(i));

    const auto found = faults(input);

    ASSERT_EQ(found.size(), 1) << i;
    EXPECT_EQ(found[0].kind, CablingFault::missing) << i;
    EXPECT_EQ(found[0].ports[0].node, whole.switches[whole.links[i].a].guid) << i;
  }
}

/// Cores of which some have a cable more from a middle switch than others: none lacks what most have.
TEST(DealtOut, FindsTheSwitchWithACableLessThanAllOthers) {
  for (const auto& [pods, middles, uplinks, cores] :
       {Dealt{6, 4, 7, 3}, Dealt{5, 5, 7, 5}, Dealt{6, 4, 7, 6}, Dealt{7, 3, 5, 3}}) {
    const Dealt tree{pods, middles, uplinks, cores};
    const auto whole = tree.input();
    const auto what = fmt::format("{} {} {} {}", pods, middles, uplinks, cores);
    ASSERT_THAT(faults(whole), testing::IsEmpty()) << what;
    for (std::size_t i = 0; i < whole.links.size(); ++i) {
      if (whole.links[i].b < tree.first_core()) continue;
      auto input = whole;
      input.links.erase(input.links.begin() + static_cast<std::ptrdiff_t>(i));

      const auto found = faults(input);

      ASSERT_EQ(found.size(), 1) << what << ": " << i;
      EXPECT_EQ(found[0].ports[0].node, whole.switches[whole.links[i].a].guid) << what << ": " << i;
    }
  }
}

/// Four leaves, with cables to spines 4 and 5.
TreeTemplate one_group() {
  return {
      .groups = {{.members = {0, 1, 2, 3}, .slots = {{.peer = 4}, {.peer = 5}}, .gone = {}, .shared = {}}},
      .group_of = {0, 0, 0, 0},
      .place = {0, 1, 2, 3}};
}

TEST(DealtOut, TakesAQuarterThatDeviatesInOneWayForADesign) {
  const Deviation other{.lacked = {4}, .surplus = {6}};

  EXPECT_THAT(cabled_in_turns({{1, other}, {3, other}}, one_group()),
              testing::ElementsAre(testing::Pair(1, other), testing::Pair(3, other)));
  EXPECT_THAT(cabled_in_turns({{1, other}}, one_group()), testing::IsEmpty());
  EXPECT_THAT(cabled_in_turns({{1, other}, {3, {.lacked = {5}, .surplus = {6}}}}, one_group()),
              testing::IsEmpty());
}

TEST(DealtOut, TakesCablesThatAreMissingAtTwoForAFault) {
  const Deviation lacking{.lacked = {4}, .surplus = {}};

  EXPECT_THAT(cabled_in_turns({{1, lacking}, {3, lacking}}, one_group()), testing::IsEmpty());
}

TEST(DealtOut, LeavesTheOneWhoseCablesNoOtherHas) {
  const Deviation five{.lacked = {5}, .surplus = {6}}, four{.lacked = {4}, .surplus = {6}};

  EXPECT_THAT(cabled_in_turns({{0, five}, {1, five}, {2, four}}, one_group()),
              testing::ElementsAre(testing::Pair(0, five), testing::Pair(1, five)));
}

/// All lack one, and switch 2 one more: that which the fewest lack.
TEST(DealtOut, LeavesAsManyOverAsTheSwitchHasTooFew) {
  const Deviation four{.lacked = {4}, .surplus = {}}, both{.lacked = {4, 5}, .surplus = {}};

  EXPECT_THAT(cabled_in_turns({{0, four}, {1, four}, {2, both}, {3, four}}, one_group()),
              testing::Contains(testing::Pair(2, four)));
}

/// To the leaf it is a cable to a core, to the middle switches one within their level.
TEST(DealtOut, NamesSwappedCablesOfALeafAndACoreAsOneFault) {
  const Dealt tree{4, 2, 6, 4};
  for (SwitchIndex leaf = 0; leaf < 4; ++leaf) {
    for (const unsigned uplink : {0U, 3U, 5U}) {
      auto input = tree.input();
      const auto cable = [&](SwitchIndex lower, unsigned nth) -> LinkSpec& {
        for (auto& link : input.links) {
          if (link.a == lower && nth-- == 0) return link;
        }
        return input.links.front();
      };
      auto &down = cable(leaf, leaf % 2), &up = cable(16 + 2 + leaf, uplink);
      std::swap(down.b, up.b);
      std::swap(down.b_port, up.b_port);

      const auto found = faults(input);

      const auto what = fmt::format("leaf {}, uplink {}", leaf, uplink);
      ASSERT_EQ(found.size(), 1) << what << ": " << found.front().text;
      EXPECT_EQ(found[0].kind, CablingFault::swapped) << what;
      for (const auto& port : found[0].ports) {
        const auto is_end = [&](const LinkSpec& link) {
          return port == PortName{input.switches[link.a].guid, link.a_port} ||
                 port == PortName{input.switches[link.b].guid, link.b_port};
        };
        EXPECT_TRUE(is_end(down) || is_end(up)) << what << ": " << found[0].text;
      }
    }
  }
}

/// Of two swapped cables one end each is named, which ends depends on the order of GUIDs.
TEST(DealtOut, SaysNothingMoreOfAMiddleSwitchWhoseUplinkIsSwapped) {
  constexpr SwitchIndex kPods = 3, kOfPod = 3, kCores = 4, kCore = kPods * 2 * kOfPod;
  for (std::uint64_t guids = 1; guids <= 12; ++guids) {
    fabrics::Builder builder("all middle switches have a cable to each core");
    for (SwitchIndex i = 0; i < kCore + kCores; ++i) builder.add_switch(36);
    for (SwitchIndex pod = 0; pod < kPods; ++pod) {
      const auto leaves = pod * 2 * kOfPod, middles = leaves + kOfPod;
      for (auto leaf = leaves; leaf < middles; ++leaf) {
        for (int h = 0; h < 2; ++h) builder.host(leaf);
        for (SwitchIndex m = 0; m < kOfPod; ++m) builder.link(leaf, middles + m);
      }
      for (SwitchIndex m = 0; m < kOfPod; ++m) {
        for (SwitchIndex core = 0; core < kCores; ++core) builder.link(middles + m, kCore + core);
      }
    }
    auto& links = builder.input().links;
    const auto of = [&](SwitchIndex lower, SwitchIndex upper) {
      return std::ranges::find_if(links, [&](const auto& l) { return l.a == lower && l.b == upper; });
    };
    auto& down = *of(0, kOfPod);
    auto& up = *of(3 * kOfPod + 1, kCore + 1);
    std::swap(down.b, up.b);
    std::swap(down.b_port, up.b_port);

    const auto found = faults(fabrics::renamed(builder.input(), guids));

    ASSERT_THAT(found, testing::SizeIs(1)) << guids;
    EXPECT_EQ(found[0].kind, CablingFault::swapped) << found[0].text;
  }
}

}  // namespace
}  // namespace smd::routing
