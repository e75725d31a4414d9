// SPDX-License-Identifier: Apache-2.0
#pragma once
// How the turns of the levels of a tree follow each other.

#include <span>
#include <vector>

#include "routing/engines/number_gaps.h"
#include "routing/engines/port_selection.h"
#include "routing/ranking/switch_ranking.h"
#include "routing/ranking/tree_template.h"

namespace smd::routing::inline engines {

/// The levels of the undamaged tree from the leaves upwards, as far as all switches of a level have equally
/// many uplinks and their turns go by one divider. `leaves`: all of them, those of one pod together. Empty
/// where leaves are at different heights.
std::vector<RoundRobinLevel> round_robin_levels(const TreeTemplate& tree_template,
                                                const SwitchRanking& ranking,
                                                std::span<const DmodkIndex> indices,
                                                std::span<const SwitchIndex> leaves);

}  // namespace smd::routing::inline engines
