// SPDX-License-Identifier: Apache-2.0

#include "routing/ranking/leaf_radius.h"
#include "routing/ranking/positions.h"
#include "routing/ranking/switch_ranking.h"

namespace smd::routing::inline ranking {
namespace {

/// By component its best switch by `better(candidate, best so far)`.
template <class Better>
std::vector<SwitchIndex> best_of_each_component(const Topology& topology, const Better& better) {
  std::vector<SwitchIndex> best(topology.components(), kNoSwitch);
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    auto& champion = best[topology.component(s)];
    if (champion == kNoSwitch || better(s, champion)) champion = s;
  }
  return best;
}

}  // namespace

SwitchRanking reroot_at_leaves(const Topology& topology, const SwitchRanking& tree,
                               std::span<const SwitchIndex> leaves) {
  std::vector<bool> turned(topology.switches());
  std::vector<SwitchIndex> front(leaves.begin(), leaves.end());
  for (const auto leaf : front) turned[leaf] = true;
  for (std::size_t at = 0; at < front.size(); ++at) {
    const auto s = front[at];
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto peer = topology.group(s, g).peer;
      if (!tree.up(s, peer) || turned[peer]) continue;
      turned[peer] = true;
      front.push_back(peer);
    }
  }
  SwitchRanking ranking = tree;
  ranking.position = positions_by(topology.switches(), [&](SwitchIndex s) {
    const auto position = std::int64_t{tree.position[s]};
    return turned[s] ? -position - 1 : position;
  });
  return ranking;
}

std::vector<SwitchRanking> single_root_rankings(const Topology& topology) {
  std::vector<SwitchRanking> rankings;
  const auto leaves = full_leaves(topology);
  std::vector<bool> nearest(topology.switches());
  for (const auto s : nearest_to_leaves(topology, leaves)) nearest[s] = true;
  const auto add = [&](const std::vector<SwitchIndex>& roots) {
    rankings.push_back(rank_from_roots(topology, roots));
  };
  add(best_of_each_component(topology, [&](auto s, auto best) { return nearest[s] && !nearest[best]; }));
  // A tree re-rooted at a leaf keeps all its shortest paths between leaves legal, and adds a path between any
  // two top switches, through that leaf.
  for (const auto leaf : sample_of(leaves, 4)) {
    add(best_of_each_component(topology, [&](auto s, auto best) {
      const auto preferred = [&](SwitchIndex i) { return i == leaf ? 2 : topology.leaf(i) ? 1 : 0; };
      return preferred(s) > preferred(best);
    }));
  }
  return rankings;
}

}  // namespace smd::routing::inline ranking
