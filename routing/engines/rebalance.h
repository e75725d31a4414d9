// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rebalances damaged trees, which round robin cannot balance: moves single destinations away from the most
// loaded cables.

#include <concepts>
#include <memory>
#include <span>
#include <vector>

#include "routing/engines/engine.h"
#include "routing/engines/next_hops.h"

namespace smd::routing::inline engines {

using Rows = std::vector<std::shared_ptr<const LftRow>>;

/// Moves destinations to less loaded paths of the same length: first reduces all cables to a limit that
/// decreases step by step, then relieves the most loaded cable repeatedly, until no cable carries more than
/// 125 % of the mean, no move helps, or the work bound is reached. More moves would cost the regularity of
/// round robin. In a tree without damage (`whole`) they end at a sixteenth above the bound of the leaves'
/// cables. Loads count (source host, destination host), by the first LID of each, weighed by the rate of
/// the cable. Requires columns with a ranking. Deterministic.
template <std::unsigned_integral Cost>
void rebalance(const EngineInput& in, std::span<const Columns<Cost>> columns, Rows& rows, bool whole);

extern template void rebalance<std::uint8_t>(const EngineInput&, std::span<const Columns<std::uint8_t>>,
                                             Rows&, bool);
extern template void rebalance<std::uint16_t>(const EngineInput&, std::span<const Columns<std::uint16_t>>,
                                              Rows&, bool);

}  // namespace smd::routing::inline engines
