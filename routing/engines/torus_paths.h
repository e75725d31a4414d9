// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shortest paths in the order of ports or dimensions, in layers; those of a whole torus follow from the
// coordinates.

#include <expected>

#include "routing/engines/channel_net.h"
#include "routing/engines/engine.h"
#include "routing/engines/pair_layering.h"

namespace smd::routing::inline engines {

/// The paths of lash. breadth_first_trees() in greedy layers; on a whole torus, where these are too many,
/// where greedy layers take long, or where its rings are even and breadth first is uneven:
///
/// Dimension order. A pair has one of two layers for each ring, that of the paths that cross a certain link
/// of their ring or that of the others. Neither closes a ring, so it takes 2^rings layers for any size. Where
/// both ways round a ring are equally long every other pair takes the one across that link.
///
/// Fails with too_few_vls.
std::expected<LayeredTrees, RouteError> paths_in_order(const RoutingContext& in, const ChannelNet& net,
                                                       unsigned most_layers);

}  // namespace smd::routing::inline engines
