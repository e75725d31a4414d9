// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a damaged tree cannot share by turns: single destinations are taken off the most used cables.

#include <concepts>
#include <memory>
#include <span>
#include <vector>

#include "routing/engines/engine.h"
#include "routing/engines/next_hops.h"

namespace smd::routing::inline engines {

using Rows = std::vector<std::shared_ptr<const LftRow>>;

/// Moves destinations from the most used cables to less used ways of the same length: all cables that carry
/// more than a limit, which comes down step by step, then the most used one again and again, until none
/// carries more than five quarters of the mean, or none can be relieved: what each move gains there it costs
/// in the order of the turns. A bound on the work ends it, too. Counts are of (source host, destination
/// host), by the first LID of each, and weighed by the rate of the cable. For paths by an order.
/// Deterministic.
template <std::unsigned_integral Cost>
void rebalance(const EngineInput& in, std::span<const Columns<Cost>> columns, Rows& rows);

extern template void rebalance<std::uint8_t>(const EngineInput&, std::span<const Columns<std::uint8_t>>,
                                             Rows&);
extern template void rebalance<std::uint16_t>(const EngineInput&, std::span<const Columns<std::uint16_t>>,
                                              Rows&);

}  // namespace smd::routing::inline engines
