// SPDX-License-Identifier: Apache-2.0
#pragma once
// One path down to each destination, chosen by counting: for trees that no closed form balances.

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "routing/engines/destination_order.h"
#include "routing/engines/engine.h"
#include "routing/engines/next_hops.h"

namespace smd::routing::inline engines {

/// How a switch beside the path down of a destination chooses among ports that lead to it equally well.
enum class Ascent : std::uint8_t {
  least_used_port,  ///< the port with the fewest destinations
  least_used_way    ///< of such ports the one behind which the most loaded channel carries the fewest routes
};

/// Gives each destination, in the order of its numbers and kind by kind, a path down from a top switch over
/// the cables that lead the fewest destinations down so far, and sends all others towards that path (the idea
/// of Zahavi, Johnson, Kerbyson and Lang, "Optimized InfiniBand fat-tree routing for shift all-to-all
/// communication patterns", 2010). So the routes to a destination share one cable of each level on the way
/// down, and no other destination has to use it while there is another. One row per switch; 255 where there
/// is no path up and down. `columns` must have a ranking; ties go to the switches with lower indexes.
/// Deterministic. O(LIDs x cables).
template <std::unsigned_integral Cost>
std::vector<std::shared_ptr<const LftRow>> route_by_descending_paths(const EngineInput& in,
                                                                     const Columns<Cost>& columns,
                                                                     std::span<const LidRun> runs,
                                                                     Ascent ascent);

/// Whether that takes a matter of a second at most: some 10,000 hosts. Larger fabrics, and those whose ports
/// have several LIDs, are for round robin.
bool takes_descending_paths(const RoutingContext& in);

extern template std::vector<std::shared_ptr<const LftRow>> route_by_descending_paths<std::uint8_t>(
    const EngineInput&, const Columns<std::uint8_t>&, std::span<const LidRun>, Ascent);
extern template std::vector<std::shared_ptr<const LftRow>> route_by_descending_paths<std::uint16_t>(
    const EngineInput&, const Columns<std::uint16_t>&, std::span<const LidRun>, Ascent);

}  // namespace smd::routing::inline engines
