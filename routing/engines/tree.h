// SPDX-License-Identifier: Apache-2.0
#pragma once
// What engines for trees have in common.

#include <concepts>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <vector>

#include "routing/engines/destination_order.h"
#include "routing/engines/engine.h"
#include "routing/engines/next_hops.h"
#include "routing/ranking/costs.h"

namespace smd::routing::inline engines {

/// Those of the switches that are there; an error where some are asked for and none is.
std::expected<std::vector<SwitchIndex>, RouteError> switches_named(const Topology& topology,
                                                                   std::span<const Guid> guids);

/// The order of a tree, from the roots if there are any; an error where the fabric is none.
std::expected<SwitchRanking, RouteError> ranking_of_tree(const Topology& topology,
                                                         std::span<const Guid> root_guids);

/// Two leaves that cables connect and the order does not, or a leaf and an aggregation node. Costs are to
/// `destinations`, all switches; a way up and down there is one back, too.
template <std::unsigned_integral Cost>
std::optional<RouteError> cut_off(const Topology& topology, const Costs<Cost>& costs,
                                  std::span<const SwitchIndex> destinations) {
  const auto column = columns_by_switch(topology, destinations);
  const auto needed = switches_with_ends(topology);
  for (const auto a : topology.leaves()) {
    const auto row = costs.row(a);
    for (const auto b : needed) {
      if (row[column[b]] != Costs<Cost>::kUnreachable || topology.component(a) != topology.component(b))
        continue;
      if (topology.leaf(b))
        return RouteError{RouteError::Cause::no_legal_path, {topology.guid(a), topology.guid(b)}};
      return RouteError{RouteError::Cause::aggregation_cut_off,
                        {topology.guid(a), topology.end_ports_of(b).front().guid}};
    }
  }
  return std::nullopt;
}

/// Rows by an order and the costs that were made by it: in turns that follow the levels where it is a tree,
/// to the least used port elsewhere. Costs are to `destinations`, all switches, best as switches_by_lid().
template <std::unsigned_integral Cost>
Routes routes_by(const EngineInput& in, const SwitchRanking& ranking, const Costs<Cost>& costs,
                 std::span<const SwitchIndex> destinations, Numbering numbering);

/// All of a tree engine: up and down by `order`, d-mod-k, every pair of leaves or an error.
std::expected<Routes, RouteError> route_tree(const EngineInput& in, const SwitchRanking& ranking,
                                             Numbering numbering);

extern template Routes routes_by<std::uint8_t>(const EngineInput&, const SwitchRanking&,
                                               const Costs<std::uint8_t>&, std::span<const SwitchIndex>,
                                               Numbering);
extern template Routes routes_by<std::uint16_t>(const EngineInput&, const SwitchRanking&,
                                                const Costs<std::uint16_t>&, std::span<const SwitchIndex>,
                                                Numbering);

}  // namespace smd::routing::inline engines
