// SPDX-License-Identifier: Apache-2.0
#pragma once
// Trees in which turns alone share all loads.

#include "routing/ranking/switch_ranking.h"
#include "routing/ranking/tree_template.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline engines {

/// Whether every switch has all the cables upwards that its family should have, all families of a rank have
/// as many, and the ways up from a switch are alike in their rates.
bool is_balanced(const Topology& topology, const SwitchRanking& ranking, const TreeTemplate& tree_template);

}  // namespace smd::routing::inline engines
