// SPDX-License-Identifier: Apache-2.0
#pragma once
// The levels of the tree as it was built, also if only a part of it exists.

#include "routing/ranking/switch_ranking.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline cabling {

/// Corrects the ranking of find_tree() for switches with nothing below them. In a tree of one pod the cores
/// have no lower switch and look like leaves without hosts: they are ranked above all others. Leaves have
/// more cables. Middle switches of a tree with nothing below them stay where they are.
SwitchRanking find_levels(const Topology& topology, SwitchRanking ranking);

}  // namespace smd::routing::inline cabling
