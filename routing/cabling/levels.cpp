// SPDX-License-Identifier: Apache-2.0
#include "routing/cabling/levels.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "routing/statistics.h"

namespace smd::routing::inline cabling {
namespace {

/// The uplinks of a switch.
struct Upwards {
  std::size_t cables = 0, peers = 0;
  std::int32_t highest = 0;
};

Upwards upwards(const Topology& topology, const SwitchRanking& ranking, SwitchIndex s) {
  Upwards up{0, 0, ranking.rank[s]};
  for (std::size_t g = 0; g < topology.groups(s); ++g) {
    const auto group = topology.group(s, g);
    if (ranking.rank[group.peer] >= ranking.rank[s]) continue;
    up.cables += group.ports.size();
    ++up.peers;
    up.highest = std::min(up.highest, ranking.rank[group.peer]);
  }
  return up;
}

/// The switches of a rank that have switches below them.
struct Others {
  std::vector<std::size_t> cables, peers;
  std::size_t leaves = 0;
};

/// Whether the switch is none of the lower ones of a tree, by its few uplinks, or as no others there are
/// leaves.
bool is_top(const Upwards& up, Others& others) {
  const bool few = up.peers * 2 <= median(others.peers) || up.cables * 2 <= median(others.cables);
  return few || others.leaves * 4 < others.peers.size();
}

}  // namespace

SwitchRanking find_levels(const Topology& topology, SwitchRanking ranking) {
  std::vector<std::pair<SwitchIndex, Upwards>> ends;
  std::map<std::int32_t, Others> ranks;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    const auto up = upwards(topology, ranking, s);
    if (up.peers == topology.groups(s) && up.peers != 0 && !topology.leaf(s)) {
      ends.emplace_back(s, up);
      continue;
    }
    auto& others = ranks[ranking.rank[s]];
    others.cables.push_back(up.cables);
    others.peers.push_back(up.peers);
    others.leaves += topology.leaf(s) ? 1 : 0;
  }
  std::map<std::int32_t, std::size_t> cables_of_tops;  // by rank the most
  for (const auto& [s, up] : ends) {
    const auto at = ranks.find(ranking.rank[s]);
    if (at == ranks.end() || !is_top(up, at->second)) continue;
    auto& most = cables_of_tops[ranking.rank[s]];
    most = std::max(most, up.cables);
  }
  // Uplinks that are no multiple of the tops are dealt out in turns: some have a cable more.
  for (const auto& [s, up] : ends) {
    const auto tops = cables_of_tops.find(ranking.rank[s]);
    if (tops != cables_of_tops.end() && up.cables <= tops->second + 1) ranking.rank[s] = up.highest - 1;
  }
  return ranking;
}

}  // namespace smd::routing::inline cabling
