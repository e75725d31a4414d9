// SPDX-License-Identifier: Apache-2.0
#pragma once
// The order of hosts in which shift permutations do not collide.

#include <span>
#include <vector>

#include "routing/topology/context.h"

namespace smd::routing::inline engines {

/// All end ports but aggregation nodes, in the order in which the tree engines count destinations: leaf by
/// leaf, leaves with near common ancestors together, then by port; those without a switch last. Each once.
/// `root_guids` as in RoutingOptions. In a fabric that is no tree the order is the same by hop count.
std::vector<EndIndex> rank_order(const RoutingContext& in, std::span<const Guid> root_guids);

}  // namespace smd::routing::inline engines
