// SPDX-License-Identifier: Apache-2.0
#pragma once
// Equivalent switches from which the same neighbours are up.

#include <vector>

#include "routing/ranking/switch_ranking.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline ranking {

/// Equivalent switches, as find_equivalent_switches(topology) defines them, from which also the same
/// neighbours are up. The costs by this ranking are equal from all switches of a group, except towards each
/// other.
std::vector<SwitchIndex> find_equivalent_switches(const Topology& topology, const SwitchRanking& ranking);

}  // namespace smd::routing::inline ranking
