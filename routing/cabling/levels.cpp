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

/// Whether it has half of the uplinks of others of its rank or less, in cables or switches.
bool has_few(const Upwards& up, Others& others) {
  return up.peers * 2 <= median(others.peers) || up.cables * 2 <= median(others.cables);
}

/// Whether it has as many as the others, or one less: a middle switch of a tree whose leaves have no cable to
/// it.
bool has_as_many(const Upwards& up, Others& others) {
  const auto peers = median(others.peers), cables = median(others.cables);
  return up.peers <= peers && up.peers + 1 >= peers && up.cables <= cables && up.cables + 1 >= cables;
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
  std::vector<SwitchIndex> tops;
  for (const auto& [s, up] : ends) {
    const auto at = ranks.find(ranking.rank[s]);
    if (at == ranks.end()) continue;
    auto& others = at->second;
    const bool few = has_few(up, others);
    if (few || (others.leaves * 4 < others.peers.size() && !has_as_many(up, others))) tops.push_back(s);
    auto& most = cables_of_tops[ranking.rank[s]];
    if (few) most = std::max(most, up.cables);
  }
  // Uplinks that are no multiple of the tops are dealt out in turns: some have a cable more.
  for (const auto& [s, up] : ends) {
    const auto most = cables_of_tops.find(ranking.rank[s]);
    const bool one_more = most != cables_of_tops.end() && most->second != 0 && up.cables <= most->second + 1;
    if (one_more || std::ranges::binary_search(tops, s)) ranking.rank[s] = up.highest - 1;
  }
  return ranking;
}

}  // namespace smd::routing::inline cabling
