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

/// Where upper switches of a path down are equally loaded.
enum class Descent : std::uint8_t {
  least_used_top,  ///< the one that the fewest paths down cross
  first,           ///< the first one: hosts at the same place of their leaves have paths of the same kind
  each_switch  ///< the first one, too, but first of all the switches above share the paths, not the cables
};

/// How a switch beside the path down of a destination chooses among ports that lead to it equally well.
enum class Ascent : std::uint8_t {
  least_used_port,  ///< the port with the fewest destinations
  least_used_way,   ///< of such ports the one behind which the most loaded channel carries the fewest routes
  together          ///< one behind which others send already; else the one of the least loaded channel
};

struct CountingRule {
  Descent descent = Descent::least_used_top;
  Ascent ascent = Ascent::least_used_port;
};

/// Gives each destination, in the order of its numbers and kind by kind, a path down from a top switch over
/// the cables that lead the fewest destinations down so far, and sends all others towards that path (the idea
/// of Zahavi, Johnson, Kerbyson and Lang, "Optimized InfiniBand fat-tree routing for shift all-to-all
/// communication patterns", 2010). So the routes to a destination share one cable of each level on the way
/// down, and no other destination has to use it while there is another. One row per switch; 255 where there
/// is no path up and down. `columns` must have a ranking.
/// Deterministic. O(LIDs x cables).
template <std::unsigned_integral Cost>
std::vector<std::shared_ptr<const LftRow>> route_by_descending_paths(const EngineInput& in,
                                                                     const Columns<Cost>& columns,
                                                                     std::span<const LidRun> runs,
                                                                     CountingRule rule);

/// How many of these calls take a matter of a second or two: at least 2, or 0 for fabrics for which one takes
/// too long, of more than some 10,000 hosts, and those whose ports have several LIDs. Both are for round
/// robin.
std::size_t descending_passes(const RoutingContext& in);

extern template std::vector<std::shared_ptr<const LftRow>> route_by_descending_paths<std::uint8_t>(
    const EngineInput&, const Columns<std::uint8_t>&, std::span<const LidRun>, CountingRule);
extern template std::vector<std::shared_ptr<const LftRow>> route_by_descending_paths<std::uint16_t>(
    const EngineInput&, const Columns<std::uint16_t>&, std::span<const LidRun>, CountingRule);

}  // namespace smd::routing::inline engines
