// SPDX-License-Identifier: Apache-2.0
#pragma once
// Moves the paths of trees to less loaded links.

#include "routing/engines/channel_net.h"
#include "routing/engines/layer_graph.h"
#include "routing/engines/path_trees.h"
#include "routing/topology/context.h"

namespace smd::routing::inline engines {

/// Moves switches, with all that comes through them, to other paths, as long as that makes the sum of the
/// cubes of all loads smaller: high loads count most. A load is in routes of hosts, divided by the capacity
/// of the link. Trees towards switches without hosts stay. Without `turns` (null) paths do not get longer.
/// With them paths may be of any length, and only such whose dependencies `turns` takes; they are added to
/// it, and it must hold those of all trees already. Returns the highest load.
double balance_trees(const RoutingContext& in, const ChannelNet& net, PathTrees& trees, LayerGraph* turns);

/// Shortest paths whose links carry few routes of hosts (the aim of Hoefler, Schneider and Lumsdaine,
/// "Optimized Routing for Large-Scale InfiniBand Networks", 2009): breadth_first_trees(), balanced. Regular
/// fabrics keep dimension order where it is even.
PathTrees balanced_trees(const RoutingContext& in, const ChannelNet& net);

}  // namespace smd::routing::inline engines
