// SPDX-License-Identifier: Apache-2.0
#pragma once
// Room for multicast in a layer: a spanning tree whose turns close no cycle with the paths in it.

#include <vector>

#include "routing/engines/channel_net.h"
#include "routing/engines/layer_graph.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline engines {

/// The dependencies of packets that keep to middle_trees(), whatever they were sent by.
std::vector<ChannelPair> turns_in_trees(const Topology& topology, const ChannelNet& net);

/// Whether a spanning tree of each component can be grown breadth first in this layer, from one of a few
/// switches near the middle, so that its turns close no cycle. Multicast finds one then, too.
bool trees_can_grow(const Topology& topology, const ChannelNet& net, const LayerGraph& layer);

}  // namespace smd::routing::inline engines
