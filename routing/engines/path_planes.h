// SPDX-License-Identifier: Apache-2.0
#pragma once
// Trees for the LIDs of ports that have several: by other switches and links, as far as there are any.

#include <vector>

#include "routing/engines/channel_net.h"
#include "routing/engines/layer_graph.h"
#include "routing/engines/path_trees.h"
#include "routing/topology/context.h"

namespace smd::routing::inline engines {

/// The most LIDs of an end port: so many different paths two hosts can have. At least 1.
unsigned most_lids(const RoutingContext& in);

/// `trees` first, then trees whose paths share as few switches, then links, with those before them as may be,
/// and among these take the less loaded links. None is longer than that in `trees`. With `turns` only such
/// whose dependencies it takes; they are added to it, and it must hold those of `trees`.
std::vector<PathTrees> path_planes(const RoutingContext& in, const ChannelNet& net, PathTrees trees,
                                   unsigned planes, LayerGraph* turns);

}  // namespace smd::routing::inline engines
