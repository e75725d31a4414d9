// SPDX-License-Identifier: Apache-2.0
#pragma once
// Puts the pairs of paths between switches into layers, each without a cycle of channels.

#include <cstddef>
#include <expected>
#include <optional>
#include <span>
#include <vector>

#include "routing/engines/channel_net.h"
#include "routing/engines/engine.h"
#include "routing/engines/layer_graph.h"
#include "routing/engines/path_trees.h"

namespace smd::routing::inline engines {

struct LayeredTrees {
  std::vector<PathTrees> planes;  ///< see path_planes()
  Layers layers;
  /// By layer the dependencies of these paths, and others; empty: not known.
  std::vector<LayerGraph> graphs{};
};

/// All paths of a pair, in both directions, have one layer: the lowest in which they close no cycle with
/// those before them. Pairs of switches with hosts come first, and of these the ones with the longest paths:
/// short ones fit anywhere. A pair of other switches that no layer takes loses its paths, as far as no other
/// pair needs them. Where that costs no layer, the turns of middle_trees() fit into layer 0 too: multicast
/// can use them. Where it does, another tree may fit, or there is one layer more, if `most_layers` permits
/// it. The result has `trees` with those for the other LIDs of ports, or alone, where these need more layers.
/// Fails with too_few_vls.
std::expected<LayeredTrees, RouteError> in_layers(const RoutingContext& in, const ChannelNet& net,
                                                  PathTrees trees, unsigned most_layers);

/// In larger fabrics with cycles the choice among equal paths takes none of them away, and trying takes long.
inline constexpr std::size_t kMostWithOtherTies = 200;  // switches

/// Shortest paths that are chosen by the order of ports and close no cycle in one layer: lowest_port_trees(),
/// else breadth_first_trees(). Nothing: both close one.
std::optional<LayeredTrees> in_one_layer_by_ports(const RoutingContext& in, const ChannelNet& net);

}  // namespace smd::routing::inline engines
