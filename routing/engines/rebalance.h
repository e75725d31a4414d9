// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rebalances damaged trees, which round robin cannot balance: moves single destinations away from the most
// loaded cables.

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "routing/engines/engine.h"
#include "routing/engines/enough_load.h"
#include "routing/engines/next_hops.h"

namespace smd::routing::inline engines {

using Rows = std::vector<std::shared_ptr<const LftRow>>;

/// Of the most loaded cable, before and after.
struct HighestLoad {
  Weight before = 0, after = 0;
  bool splits = false;  ///< Rebalance::damaged: the load aimed at splits the routes to single hosts: few
                        ///< hosts, many cables
};

/// Moves destinations to less loaded paths of the same length: first reduces all cables to a limit that
/// decreases step by step, then relieves the most loaded cable repeatedly, until none carries more than
/// `until` says, no move helps, or the work bound is reached. More moves would cost the regularity of the
/// tables. Loads count (source host, destination host), by the first LID of each, weighed by the rate of the
/// cable. Requires columns with a ranking. Deterministic.
template <std::unsigned_integral Cost>
HighestLoad rebalance(const EngineInput& in, std::span<const Columns<Cost>> columns, Rows& rows,
                      Rebalance until);

extern template HighestLoad rebalance<std::uint8_t>(const EngineInput&,
                                                    std::span<const Columns<std::uint8_t>>, Rows&, Rebalance);
extern template HighestLoad rebalance<std::uint16_t>(const EngineInput&,
                                                     std::span<const Columns<std::uint16_t>>, Rows&,
                                                     Rebalance);

}  // namespace smd::routing::inline engines
