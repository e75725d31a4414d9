// SPDX-License-Identifier: Apache-2.0
#include "routing/quality/levels.h"

#include <algorithm>

namespace smd::routing::inline quality {

std::vector<LevelWidth> level_widths(const Topology& topology, const SwitchRanking& ranking,
                                     const LinkWeight& weight) {
  std::vector<LevelWidth> levels;
  if (!ranking.tree || ranking.rank.empty()) return levels;
  const auto [top, bottom] = std::ranges::minmax(ranking.rank);
  levels.resize(static_cast<std::size_t>(bottom - top) + 1);
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    auto& level = levels[static_cast<std::size_t>(bottom - ranking.rank[s])];
    ++level.switches;
    level.hosts += topology.hosts(s);
    for (unsigned p = 1; p <= topology.ports(s); ++p) {
      const PortNum port{static_cast<std::uint8_t>(p)};
      const auto peer = topology.peer(s, port);
      if (peer.end != kNoEnd) {
        if (topology.end_ports()[peer.end].kind != EndKind::aggregation) level.below += weight(s, port);
      } else if (peer.sw != kNoSwitch && ranking.rank[peer.sw] != ranking.rank[s]) {
        (ranking.rank[peer.sw] > ranking.rank[s] ? level.below : level.above) += weight(s, port);
      }
    }
  }
  for (unsigned i = 0; i < levels.size(); ++i) levels[i].level = i;
  return levels;
}

}  // namespace smd::routing::inline quality
