// SPDX-License-Identifier: Apache-2.0
#pragma once
// Detects trees in which round robin alone balances all loads.

#include "routing/ranking/switch_ranking.h"
#include "routing/ranking/tree_template.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline engines {

/// Whether every switch has all uplinks that its group should have.
bool is_whole(const Topology& topology, const TreeTemplate& tree_template);

/// Of a tree that is not is_whole(): whether all switches of each group have equally many cables upwards all
/// the same. These are no multiple of what is above, dealt out in turns, and nothing is missing.
bool is_dealt_out(const Topology& topology, const SwitchRanking& ranking, const TreeTemplate& tree_template);

/// Whether, as the tree was built, all groups of a rank have equally many uplinks, and all paths up from a
/// switch have the same rates. What is missing now does not count.
bool is_regular(const Topology& topology, const SwitchRanking& ranking, const TreeTemplate& tree_template);

}  // namespace smd::routing::inline engines
