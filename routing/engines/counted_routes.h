// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tree that no closed form balances: counts destinations in several ways and takes the best tables.

#include <concepts>
#include <span>

#include "routing/engines/destination_order.h"
#include "routing/engines/engine.h"
#include "routing/engines/next_hops.h"
#include "routing/engines/rebalance.h"

namespace smd::routing::inline engines {

/// Tables by route_by_descending_paths() and rebalance(). Which rules suit a tree, and how much rebalancing,
/// depends on how its cables are dealt out: of as many as time allows those tables are taken whose most
/// loaded link times the shifts of `hosts`, in this order, is least. `even`: no cable of the tree is missing.
/// Deterministic.
template <std::unsigned_integral Cost>
Rows route_by_counts(const EngineInput& in, std::span<const Columns<Cost>> columns,
                     std::span<const LidRun> runs, std::span<const EndIndex> hosts, bool even);

extern template Rows route_by_counts<std::uint8_t>(const EngineInput&, std::span<const Columns<std::uint8_t>>,
                                                   std::span<const LidRun>, std::span<const EndIndex>, bool);
extern template Rows route_by_counts<std::uint16_t>(const EngineInput&,
                                                    std::span<const Columns<std::uint16_t>>,
                                                    std::span<const LidRun>, std::span<const EndIndex>, bool);

}  // namespace smd::routing::inline engines
