// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many routes lead over each cable.

#include <cstdint>
#include <span>
#include <vector>

#include "mad/base/id.h"
#include "routing/parallel.h"
#include "routing/ranking/switch_ranking.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline engines {

using Load = std::uint32_t;

/// By channel the hosts whose routes to `lids` (ascending) lead over it, each LID counting by itself. For
/// tables whose paths go up first and down then; `entries`: by switch the row's, of full length.
std::vector<Load> count_loads(const Topology& topology, const SwitchRanking& ranking,
                              std::span<const Lid> lids, std::span<const std::uint8_t* const> entries,
                              const Parallel& parallel);

}  // namespace smd::routing::inline engines
