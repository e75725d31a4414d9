// SPDX-License-Identifier: Apache-2.0
#pragma once
// The order in which the tree engines count leaves.

#include <span>
#include <vector>

#include "routing/ranking/switch_ranking.h"
#include "routing/topology/context.h"

namespace smd::routing::inline engines {

/// The leaves in the order in which dmodc and ftree number their hosts: those with near common ancestors
/// together, ties by structural_order(). Hosts in this order, and by port on each leaf, do not collide in
/// shift permutations on a whole tree. Requires the ranking of a tree; empty if paths are too long.
std::vector<SwitchIndex> leaves_in_order(const RoutingContext& in, const SwitchRanking& ranking);

/// All end ports of these leaves but aggregation nodes: leaf by leaf, then by port.
std::vector<EndIndex> hosts_of_leaves(const Topology& topology, std::span<const SwitchIndex> leaves);

}  // namespace smd::routing::inline engines
