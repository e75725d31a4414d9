// SPDX-License-Identifier: Apache-2.0
#pragma once
// The levels of the tree that a fabric was built as, also where a part of it is all there is.

#include "routing/ranking/switch_ranking.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline cabling {

/// Those of `order`, as find_tree() has them, but of switches with nothing below them. In a tree of one pod
/// every way ends below the cores, and those look like switches that have lost what was below them, leaves
/// without hosts say: they are put above all others, where they belong. Leaves have more cables.
SwitchRanking find_levels(const Topology& topology, SwitchRanking ranking);

}  // namespace smd::routing::inline cabling
