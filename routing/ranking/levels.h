// SPDX-License-Identifier: Apache-2.0
#pragma once
// Levels of a tree counted from its leaves.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "routing/topology/topology.h"

namespace smd::routing::inline ranking {

struct Levels {
  std::vector<std::int32_t> rank;  ///< smaller is higher up
  std::vector<double> mean;        ///< mean_distances() to the lowest leaves
};

/// Ranks if nearly every cable joins two neighbouring levels when a switch's level is
/// its distance from the nearest of `leaves`; nothing where that is not so. It holds however many cables and
/// switches of a tree are missing, and not where leaves hang at different heights. A switch that is no
/// nearer to the leaves than those below it is a leaf that lost its hosts.
std::optional<Levels> levels_from_leaves(const Topology& topology, std::span<const SwitchIndex> leaves);

/// By switch its mean distance to the other leaves, each counted by its hosts; from a sample where there are
/// many.
std::vector<double> mean_distances(const Topology& topology, std::span<const SwitchIndex> leaves);

}  // namespace smd::routing::inline ranking
