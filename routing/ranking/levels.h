// SPDX-License-Identifier: Apache-2.0
#pragma once
// Levels of a tree, counted from its leaves.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "routing/topology/topology.h"

namespace smd::routing::inline ranking {

struct Levels {
  std::vector<std::int32_t> rank;  ///< by SwitchIndex; smaller is higher up
  std::vector<double> mean;        ///< mean_distances() to the lowest leaves
};

/// Ranks by distance from the nearest of `leaves`, if nearly every cable joins two neighbouring levels then;
/// else nothing. Missing cables and switches do not matter; leaves at different heights do. A switch that is
/// no nearer to the leaves than those below it counts as a leaf that lost its hosts.
std::optional<Levels> levels_from_leaves(const Topology& topology, std::span<const SwitchIndex> leaves);

/// By switch the mean distance in hops to the other leaves, each weighed by its hosts; from a sample of 512
/// leaves if there are more.
std::vector<double> mean_distances(const Topology& topology, std::span<const SwitchIndex> leaves);

}  // namespace smd::routing::inline ranking
