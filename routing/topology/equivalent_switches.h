// SPDX-License-Identifier: Apache-2.0
#pragma once
// Equivalent switches: switches with the same neighbours, such as the leaves of a pod. What holds for one
// holds for all.

#include <vector>

#include "routing/topology/topology.h"

namespace smd::routing::inline topology {

/// By switch the first switch with the same number of ports and the same neighbour at each of them; the
/// switch itself if there is no other. A switch with a cable to itself has no equivalent.
std::vector<SwitchIndex> find_equivalent_switches(const Topology& topology);

}  // namespace smd::routing::inline topology
