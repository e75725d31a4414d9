// SPDX-License-Identifier: Apache-2.0
#pragma once
// Detects inner switches that look like leaves because they have as many hosts.

#include <cstdint>
#include <span>
#include <vector>

#include "routing/ranking/switch_ranking.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline ranking {

/// Of `leaves`, the lowest switches with hosts of a tree, those in transit between the others, ascending:
/// shortest paths from their nearest leaves to a quarter or more of the others lead through them, and no
/// other leaf shares most of their neighbours. Empty if they had half of all hosts: only traffic without an
/// alternative crosses real leaves. `mean`: by switch the mean distance to leaves, to exclude most candidates
/// early.
std::vector<SwitchIndex> transit_switches(const Topology& topology, std::span<const SwitchIndex> leaves,
                                          std::span<const double> mean);

/// Pairs of hosts of these leaves (of a sample) that have an up/down path.
std::uint64_t connected_host_pairs(const Topology& topology, const SwitchRanking& ranking,
                                   std::span<const SwitchIndex> leaves);

}  // namespace smd::routing::inline ranking
