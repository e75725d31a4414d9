// SPDX-License-Identifier: Apache-2.0
#pragma once
// Leaves told from inner switches that have as many hosts.

#include <span>
#include <vector>

#include "routing/topology/topology.h"

namespace smd::routing::inline ranking {

/// Of these switches with hosts those that are leaves if the fabric is a tree. Levels alternate, every cable
/// leads from one side to the other (the few that do not are outvoted): the side with more hosts has the
/// leaves, of equal ones that with more such switches, then that with fewer cables. Of that side those that
/// are farther from the others than their neighbours are: cores are not. Ascending.
std::vector<SwitchIndex> detect_leaves(const Topology& topology, std::span<const SwitchIndex> leaves);

}  // namespace smd::routing::inline ranking
