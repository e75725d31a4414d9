// SPDX-License-Identifier: Apache-2.0
#include "routing/ranking/equivalent_by_ranking.h"

#include "routing/topology/equivalent_switches.h"

namespace smd::routing::inline ranking {

std::vector<SwitchIndex> find_equivalent_switches(const Topology& topology, const SwitchRanking& ranking) {
  auto equivalents = find_equivalent_switches(topology);
  for (SwitchIndex s = 0; s < equivalents.size(); ++s) {
    const auto first = equivalents[s];
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto peer = topology.group(s, g).peer;
      if (ranking.up(s, peer) != ranking.up(first, peer)) equivalents[s] = s;
    }
  }
  return equivalents;
}

}  // namespace smd::routing::inline ranking
