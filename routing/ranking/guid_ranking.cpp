// SPDX-License-Identifier: Apache-2.0
#include "routing/ranking/guid_ranking.h"

#include <algorithm>
#include <tuple>

#include "routing/ranking/positions.h"

namespace smd::routing::inline ranking {

GuidRanking by_guid(const Topology& topology, const SwitchRanking& ranking, const GuidRanking* others) {
  GuidRanking all;
  all.tree = ranking.tree;
  for (SwitchIndex s = 0; s < topology.switches(); ++s)
    all.places.push_back({topology.guid(s), ranking.rank[s], ranking.position[s]});
  if (others != nullptr) {
    const auto below = static_cast<std::uint32_t>(topology.switches());
    for (const auto& place : others->places) {
      if (topology.find(place.guid) == kNoSwitch)
        all.places.push_back({place.guid, place.rank, below + place.position});
    }
    std::ranges::sort(all.places, {}, &GuidRanking::Place::guid);
  }
  return all;
}

SwitchRanking by_index(const GuidRanking& ranking, const Topology& topology) {
  SwitchRanking found;
  found.tree = ranking.tree;
  const std::size_t n = topology.switches();
  std::int32_t lowest = 0;
  for (const auto& place : ranking.places) lowest = std::max(lowest, place.rank);
  std::vector<std::tuple<bool, std::uint32_t, Guid>> keys;
  for (SwitchIndex s = 0; s < n; ++s) {
    const auto guid = topology.guid(s);
    const auto at = std::ranges::lower_bound(ranking.places, guid, {}, &GuidRanking::Place::guid);
    const bool known = at != ranking.places.end() && at->guid == guid;
    found.rank.push_back(known ? at->rank : lowest + 1);
    keys.emplace_back(!known, known ? at->position : 0, guid);
  }
  found.position = positions_by(n, [&](SwitchIndex s) { return keys[s]; });
  return found;
}

}  // namespace smd::routing::inline ranking
