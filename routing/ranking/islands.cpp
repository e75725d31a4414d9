// SPDX-License-Identifier: Apache-2.0
#include "routing/ranking/islands.h"

#include <algorithm>
#include <vector>

#include "routing/ranking/disjoint_sets.h"
#include "routing/ranking/switch_ranking.h"

namespace smd::routing::inline ranking {

bool has_islands(const Topology& topology) {
  const auto rank = find_tree(topology).rank;
  DisjointSets sets(topology.switches());
  bool level_cables = false;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto peer = topology.group(s, g).peer;
      const bool level = rank[s] == rank[peer] && !topology.leaf(s) && !topology.leaf(peer);
      level_cables = level_cables || level;
      if (!level) sets.join(s, peer);
    }
  }
  if (!level_cables) return false;
  std::vector<std::uint32_t> island(topology.components(), kNoSwitch);
  return std::ranges::any_of(topology.leaves(), [&](SwitchIndex leaf) {
    auto& first = island[topology.component(leaf)];
    if (first == kNoSwitch) first = sets.first(leaf);
    return first != sets.first(leaf);
  });
}

}  // namespace smd::routing::inline ranking
