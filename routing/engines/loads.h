// SPDX-License-Identifier: Apache-2.0
#pragma once
// The number of routes over each channel.

#include <cstdint>
#include <span>
#include <vector>

#include "mad/base/id.h"
#include "routing/parallel.h"
#include "routing/ranking/switch_ranking.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline engines {

using Load = std::uint32_t;

/// By channel the number of hosts whose routes to `lids` (ascending) cross it, counted for each LID. Requires
/// paths that follow `ranking`. `entries`: the rows by SwitchIndex, of full length.
std::vector<Load> count_loads(const Topology& topology, const SwitchRanking& ranking,
                              std::span<const Lid> lids, std::span<const std::uint8_t* const> entries,
                              const Parallel& parallel);

}  // namespace smd::routing::inline engines
