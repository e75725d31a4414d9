// SPDX-License-Identifier: Apache-2.0
#include "routing/ranking/root_sets.h"

#include <algorithm>
#include <cstdint>

#include "routing/ranking/leaf_radius.h"
#include "routing/ranking/switch_ranking.h"

namespace smd::routing::inline ranking {
namespace {

/// By component the switches with the smallest value; those that are kUnranked are in no set.
std::vector<SwitchIndex> least(const Topology& topology, const std::vector<std::int32_t>& value) {
  std::vector<std::int32_t> best(topology.components(), kUnranked);
  for (SwitchIndex s = 0; s < value.size(); ++s)
    best[topology.component(s)] = std::min(best[topology.component(s)], value[s]);
  std::vector<SwitchIndex> found;
  for (SwitchIndex s = 0; s < value.size(); ++s) {
    if (value[s] != kUnranked && value[s] == best[topology.component(s)]) found.push_back(s);
  }
  return found;
}

/// By switch minus its distance from the nearest of `leaves`.
std::vector<std::int32_t> depth(const Topology& topology, const std::vector<SwitchIndex>& leaves) {
  std::vector<std::int32_t> below(topology.switches(), kUnranked);
  auto front = leaves;
  for (const auto s : front) below[s] = 0;
  for (std::size_t at = 0; at < front.size(); ++at) {
    const auto s = front[at];
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto peer = topology.group(s, g).peer;
      if (below[peer] != kUnranked) continue;
      below[peer] = below[s] - 1;
      front.push_back(peer);
    }
  }
  return below;
}

bool several_in_a_component(const Topology& topology, const std::vector<SwitchIndex>& roots) {
  std::vector<bool> seen(topology.components());
  return std::ranges::any_of(roots, [&](SwitchIndex s) {
    const bool second = seen[topology.component(s)];
    seen[topology.component(s)] = true;
    return second;
  });
}

}  // namespace

std::vector<std::vector<SwitchIndex>> root_sets(const Topology& topology) {
  const auto leaves = full_leaves(topology);
  std::vector<std::vector<SwitchIndex>> sets;
  for (const auto& roots : {nearest_to_leaves(topology, leaves), least(topology, depth(topology, leaves))}) {
    if (several_in_a_component(topology, roots) && std::ranges::find(sets, roots) == sets.end())
      sets.push_back(roots);
  }
  return sets;
}

}  // namespace smd::routing::inline ranking
