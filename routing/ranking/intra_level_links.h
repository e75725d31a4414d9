// SPDX-License-Identifier: Apache-2.0
#pragma once
// Fabrics whose switches of one level are cabled with each other, as the spines of a dragonfly+ are.

#include <optional>
#include <utility>

#include "routing/ranking/switch_ranking.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline ranking {

/// Two neighbours of one level, where such cables are the rule there: three of four of the level's switches
/// have some, and those are a quarter of all their cables or more. Nothing in trees, where one may be in a
/// wrong place, or two.
std::optional<std::pair<SwitchIndex, SwitchIndex>> find_intra_level_link(const Topology& topology,
                                                                         const SwitchRanking& ranking);

}  // namespace smd::routing::inline ranking
