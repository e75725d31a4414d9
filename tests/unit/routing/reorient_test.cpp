// SPDX-License-Identifier: Apache-2.0
#include "routing/ranking/reorient.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "routing/ranking/guid_ranking.h"
#include "routing/repair/repair.h"
#include "routing/verify/verify.h"
#include "tests/support/routing_damage.h"
#include "tests/support/routing_engines.h"

namespace smd::routing {
namespace {

using fabrics::Builder;

/// Pairs of a leaf and another of its component that no up/down path joins.
std::size_t illegal_pairs(const Topology& topology, const SwitchRanking& ranking) {
  const auto needed = topology.leaves();
  std::size_t count = 0;
  for (const auto source : topology.leaves()) {
    std::set<std::pair<SwitchIndex, bool>> seen{{source, true}};
    std::vector<std::pair<SwitchIndex, bool>> open(seen.begin(), seen.end());
    while (!open.empty()) {
      const auto [s, may_go_up] = open.back();
      open.pop_back();
      for (std::size_t g = 0; g < topology.groups(s); ++g) {
        const auto peer = topology.group(s, g).peer;
        const bool up = ranking.position[peer] < ranking.position[s];
        if (up && !may_go_up) continue;
        if (seen.emplace(peer, up).second) open.emplace_back(peer, up);
      }
    }
    for (const auto to : needed) {
      const bool joined = topology.component(to) == topology.component(source);
      count += joined && !seen.contains({to, true}) && !seen.contains({to, false}) ? 1U : 0U;
    }
  }
  return count;
}

std::size_t turned_links(const Topology& topology, const SwitchRanking& one, const SwitchRanking& other) {
  std::size_t count = 0;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto peer = topology.group(s, g).peer;
      count += one.up(s, peer) && !other.up(s, peer) ? 1U : 0U;
    }
  }
  return count;
}

Builder fabric_to_turn(std::uint64_t seed) {
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      return fabrics::ft3(*rc::gen::element(4U, 6U));
    case 1:
      return fabrics::torus(4, 3, 2);
    default:
      return fabrics::irregular(seed, *rc::gen::inRange(3U, 16U), *rc::gen::inRange(0U, 16U), 24);
  }
}

RC_GTEST_PROP(Reorient, JoinsAllPairsOfADamagedFabricByLegalPaths, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto whole = fabrics::told(fabric_to_turn(seed).input(), 0);
  const auto before = whole.routable();
  const auto now = fabrics::damaged(whole, seed, *rc::gen::inRange<std::size_t>(0, 9), 0).routable();
  const auto ranking = find_engine("updn")->ranking(before.topology, {}, Serial{});
  RC_ASSERT(ranking.has_value());
  const auto old = by_index(by_guid(before.topology, *ranking), now.topology);

  const auto turned = reorient(now.topology, old);

  RC_TAG(illegal_pairs(now.topology, old) != 0, turned.has_value());
  if (!turned) return;
  RC_ASSERT(illegal_pairs(now.topology, *turned) == 0U);
  if (illegal_pairs(now.topology, old) == 0) RC_ASSERT(turned->position == old.position);
}

TopologyInput ring(unsigned switches) {
  TopologyInput input;
  for (SwitchIndex s = 0; s < switches; ++s) {
    input.switches.push_back({Guid{0x100U + s}, 3});
    input.links.push_back({s, PortNum{1}, (s + 1) % switches, PortNum{2}});
    input.end_ports.push_back({Guid{0x200U + s}, s, PortNum{3}, EndKind::compute, {}, {}});
  }
  return input;
}

/// Ranked from switch 0, whose cable to switch 1 is cut: the lowest switch has a top on either side.
TEST(Reorient, TurnsTheLinksOfOneSideWhereATreeFallsInTwo) {
  auto input = ring(6);
  const Topology whole(input);
  const std::vector<SwitchIndex> root{0};
  const auto ranking = rank_from_roots(whole, root);
  input.links.erase(input.links.begin());
  const Topology cut(input);
  ASSERT_NE(illegal_pairs(cut, ranking), 0U);

  const auto turned = reorient(cut, ranking);

  ASSERT_TRUE(turned);
  EXPECT_EQ(illegal_pairs(cut, *turned), 0U);
  EXPECT_LE(turned_links(cut, ranking, *turned), 3U);
}

TEST(GuidRanking, KeepsThePlacesOfSwitchesThatAreAwayAndPutsNewOnesBelow) {
  const auto whole = Topology(fabrics::ft2(4, 2, 2).input());
  const auto ranking = find_tree(whole);
  const auto stored = by_guid(whole, ranking);
  std::vector<bool> gone(6);
  gone[5] = true;
  const Topology without(fabrics::without_switches(fabrics::told(fabrics::ft2(4, 2, 2).input()), gone).input);
  ASSERT_EQ(without.switches(), 5U);

  const auto again = by_guid(without, by_index(stored, without), &stored);

  EXPECT_EQ(again.places.size(), 6U);
  const auto back = by_index(again, whole);
  EXPECT_EQ(back.position[5], 5U) << "away: below all that stayed";
  for (SwitchIndex s = 0; s < 5; ++s) {
    for (SwitchIndex t = 0; t < 5; ++t) EXPECT_EQ(back.up(s, t), ranking.up(s, t));
  }
}

}  // namespace
}  // namespace smd::routing
