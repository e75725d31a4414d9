// SPDX-License-Identifier: Apache-2.0
#pragma once
// Takes paths away from the most loaded links, in several trees towards each switch.

#include <cstdint>
#include <span>
#include <vector>

#include "routing/engines/channel_net.h"
#include "routing/engines/layer_graph.h"
#include "routing/engines/path_trees.h"
#include "routing/routes.h"
#include "routing/topology/context.h"

namespace smd::routing::inline engines {

/// Trees towards each switch for some of its hosts each.
struct HostPlanes {
  std::vector<PathTrees> planes;
  std::vector<std::uint8_t> of_end{};  ///< by EndIndex: the plane of an end port
};

/// What the paths of each layer wait for. Moved paths keep the layer of their switches.
struct LayersInUse {
  const PairLayers& of_pairs;
  std::span<LayerGraph> graphs;  ///< by layer; they hold the dependencies of all paths
};

/// Moves switches, with all that comes through them, to other paths that are no longer, as long as each of
/// the links with the highest load can get rid of one so that no other link gets as much and the sum of the
/// cubes of all loads gets smaller. A load is in routes of hosts, divided by the capacity of the link. The
/// dependencies of what is moved are added to `layers`. Gives up after a while. Returns whether the highest
/// load is lower than before.
bool relieve_links(const RoutingContext& in, const ChannelNet& net, HostPlanes& trees,
                   const LayersInUse& layers);

}  // namespace smd::routing::inline engines
