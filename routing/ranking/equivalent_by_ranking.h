// SPDX-License-Identifier: Apache-2.0
#pragma once
// Equivalent switches from which the same neighbours are up.

#include <vector>

#include "routing/ranking/switch_ranking.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline ranking {

/// Of which the same neighbours are up, too: costs by that order are the same from both, but to each other.
std::vector<SwitchIndex> find_equivalent_switches(const Topology& topology, const SwitchRanking& ranking);

}  // namespace smd::routing::inline ranking
