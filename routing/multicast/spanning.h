// SPDX-License-Identifier: Apache-2.0
#pragma once
// Spanning trees whose turns close no cycle with what is in a graph of channels.

#include <optional>
#include <vector>

#include "routing/multicast/turn_graph.h"
#include "routing/ranking/switch_ranking.h"
#include "routing/topology/spanning_trees.h"

namespace smd::routing::inline multicast {

/// Breadth first from the top of the ranking in each component, whatever they close. A switch has a second
/// branch upwards only where others are not reached without.
SpanningTrees plain_trees(const Topology& topology, const SwitchRanking& ranking);

/// All turns of the trees, in both directions of each cable.
std::vector<McTurn> turns_of(const SpanningTrees& trees);

/// Grows them breadth first, from the first of a few roots that works: the top of the ranking, and then
/// switches near the middle. Nothing if none works. Slow in large fabrics, where only the top is tried.
std::optional<SpanningTrees> grow_spanning_trees(const Topology& topology, const SwitchRanking& ranking,
                                                 TurnGraph graph);

}  // namespace smd::routing::inline multicast
