// SPDX-License-Identifier: Apache-2.0
#pragma once
// Switches that are cabled alike, as the leaves of a pod are: what is true of one is true of all.

#include <vector>

#include "routing/topology/topology.h"

namespace smd::routing::inline topology {

/// For each switch the first one that has the same number of ports and the same neighbour at each of them;
/// itself where there is no other. Switches with a cable to themselves have no twins.
std::vector<SwitchIndex> find_equivalent_switches(const Topology& topology);

}  // namespace smd::routing::inline topology
