// SPDX-License-Identifier: Apache-2.0
#pragma once
// Inner switches that look like leaves, because leaves have as few hosts as they do.

#include <cstdint>
#include <span>
#include <vector>

#include "routing/ranking/switch_ranking.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline ranking {

/// Of these switches with hosts, the lowest of a tree, those that stand between the others: shortest ways
/// from the nearest of them to at least a quarter of the rest lead through them, and none of the others has
/// most of their neighbours; none if those had half of all hosts. Nothing leads through the leaves of a tree
/// but what has no other way, whatever the number of their hosts. Ascending. `mean`: by switch its mean
/// distance to leaves, which tells at once those that nothing leads through.
std::vector<SwitchIndex> transit_switches(const Topology& topology, std::span<const SwitchIndex> leaves,
                                          std::span<const double> mean);

/// Pairs of the hosts of these switches (a sample of them) that have a way up and down.
std::uint64_t connected_host_pairs(const Topology& topology, const SwitchRanking& ranking,
                                   std::span<const SwitchIndex> leaves);

}  // namespace smd::routing::inline ranking
