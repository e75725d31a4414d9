// SPDX-License-Identifier: Apache-2.0
#pragma once
// Detects fabrics with links inside a level, such as those between the spines of a dragonfly+.

#include <optional>
#include <utility>

#include "routing/ranking/switch_ranking.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline ranking {

/// An example of such a link, if they are the rule in some level: three quarters of its switches have one,
/// and they are a quarter of the level's cables or more. Nothing for trees, where one or two may be misplaced
/// cables.
std::optional<std::pair<SwitchIndex, SwitchIndex>> find_intra_level_link(const Topology& topology,
                                                                         const SwitchRanking& ranking);

}  // namespace smd::routing::inline ranking
