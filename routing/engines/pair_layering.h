// SPDX-License-Identifier: Apache-2.0
#pragma once
// Puts the pairs of paths between switches into layers, each without a cycle of channels.

#include <expected>
#include <span>
#include <vector>

#include "routing/engines/channel_net.h"
#include "routing/engines/engine.h"
#include "routing/engines/path_trees.h"

namespace smd::routing::inline engines {

/// All paths of a pair, in both directions, have one layer: the lowest in which they close no cycle with
/// those before them. Pairs of switches with hosts come first, and of these the ones with the longest paths:
/// short ones fit anywhere. A pair of other switches that no layer takes loses its paths, as far as no other
/// pair needs them: `planes` are changed then. Fails if hosts are left, or a path that others need, with
/// too_few_vls.
std::expected<Layers, RouteError> layer_pairs(const RoutingContext& in, const ChannelNet& net,
                                              std::span<PathTrees> planes, unsigned most_layers);

struct LayeredTrees {
  std::vector<PathTrees> planes;  ///< see path_planes()
  Layers layers;
};

/// `trees` with those for the other LIDs of ports, or alone, where these need more layers. Fails with
/// too_few_vls.
std::expected<LayeredTrees, RouteError> in_layers(const RoutingContext& in, const ChannelNet& net,
                                                  PathTrees trees, unsigned most_layers);

}  // namespace smd::routing::inline engines
