// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sets of roots for fabrics that are not trees, or whose tree leaves hosts without a legal path.

#include <vector>

#include "routing/topology/topology.h"

namespace smd::routing::inline ranking {

/// Sets of switches that may be the top of the fabric: nearest_to_leaves(), and those farthest from the
/// nearest leaf. Each set has several switches in a component, and none is twice; may be empty. Whether every
/// pair of hosts has a legal path below them is the caller's check.
std::vector<std::vector<SwitchIndex>> root_sets(const Topology& topology);

}  // namespace smd::routing::inline ranking
