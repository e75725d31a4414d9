// SPDX-License-Identifier: Apache-2.0
#pragma once
// Spanning trees of switches: engines leave room for one in the first layer, multicast uses it.

#include <vector>

#include "routing/topology/topology.h"

namespace smd::routing::inline topology {

/// The cables of one spanning tree of each component, and the roots that they were grown from.
struct SpanningTrees {
  std::vector<std::vector<PortNum>> ports;  ///< by switch
  std::vector<SwitchIndex> roots;           ///< one a component
};

/// The switches of each component, in the order of their indexes.
std::vector<std::vector<SwitchIndex>> switches_by_component(const Topology& topology);

/// Switches of a component, nearest to its middle first: by the distance to the farthest switch, of which at
/// most 64 are measured. `all`: its switches.
std::vector<SwitchIndex> by_eccentricity(const Topology& topology, const std::vector<SwitchIndex>& all);

/// Breadth first from the middle of each component, by the first cable to each neighbour. The same for equal
/// topologies.
SpanningTrees middle_trees(const Topology& topology);

}  // namespace smd::routing::inline topology
