// SPDX-License-Identifier: Apache-2.0
#pragma once
// An order of the switches of a tree that follows from its cabling.

#include <span>
#include <vector>

#include "routing/ranking/switch_ranking.h"
#include "routing/ranking/tree_template.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline ranking {

/// All switches, the top first, so that any numbering of the switches gives the same order of the same
/// cabling: only switches that the cabling does not tell apart are ordered by index. Within a rank switches
/// that lead up to the same top switches (a column of the tree) are together, and the columns have one order
/// below all switches; then by the ports that most of the switches below and above use for them. Faults of
/// single cables do not change these.
std::vector<SwitchIndex> structural_order(const Topology& topology, const SwitchRanking& ranking,
                                          const TreeTemplate& tree_template);

/// Whether the leaves, and the neighbours of each switch in each direction, have ascending indexes in that
/// order. A whole tree gets the same routes then if it is not reordered.
bool is_ordered(const Topology& topology, const SwitchRanking& ranking, std::span<const SwitchIndex> order);

}  // namespace smd::routing::inline ranking
