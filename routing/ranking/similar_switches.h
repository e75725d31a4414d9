// SPDX-License-Identifier: Apache-2.0
#pragma once
// Groups of switches with mostly the same switches above them.

#include <cstdint>
#include <vector>

#include "routing/ranking/switch_ranking.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline ranking {

/// By switch the number of its group, below the number of switches: equal for switches of one rank that share
/// more than half of their upper switches. Two kinds of which each occurs twice or more, and of which one has
/// three upper switches that the other lacks (two if there are four of each), at least an eighth of them, are
/// two generations and two groups.
std::vector<std::uint32_t> similar_switches(const Topology& topology, const SwitchRanking& ranking);

}  // namespace smd::routing::inline ranking
