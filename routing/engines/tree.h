// SPDX-License-Identifier: Apache-2.0
#pragma once
// Common parts of the engines for trees.

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

/// The switches with these GUIDs that exist; no_such_root if none of them does.
std::expected<std::vector<SwitchIndex>, RouteError> switches_named(const Topology& topology,
                                                                   std::span<const Guid> guids);

/// The ranking of a tree, from the roots if there are any; not_a_tree for other fabrics.
std::expected<SwitchRanking, RouteError> ranking_of_tree(const Topology& topology,
                                                         std::span<const Guid> root_guids);

/// An error if two leaves are connected but have no legal path. Costs are to `destinations`, all switches.
/// Up/down paths are reversible, so one direction is enough.
template <std::unsigned_integral Cost>
std::optional<RouteError> cut_off(const Topology& topology, const Costs<Cost>& costs,
                                  std::span<const SwitchIndex> destinations) {
  const auto column = columns_by_switch(topology, destinations);
  for (const auto a : topology.leaves()) {
    const auto row = costs.row(a);
    for (const auto b : topology.leaves()) {
      if (row[column[b]] != Costs<Cost>::kUnreachable || topology.component(a) != topology.component(b))
        continue;
      return RouteError{RouteError::Cause::no_legal_path, {topology.guid(a), topology.guid(b)}};
    }
  }
  return std::nullopt;
}

/// Builds tables from a ranking and its costs: d-mod-k in a tree, least used ports elsewhere. Costs are to
/// `destinations`, all switches, best in the order of switches_by_lid().
template <std::unsigned_integral Cost>
Routes routes_by(const EngineInput& in, const SwitchRanking& ranking, const Costs<Cost>& costs,
                 std::span<const SwitchIndex> destinations, Numbering numbering);

/// A complete tree engine: up/down by `ranking` with d-mod-k; an error if a pair of leaves has no path.
std::expected<Routes, RouteError> route_tree(const EngineInput& in, const SwitchRanking& ranking,
                                             Numbering numbering);

extern template Routes routes_by<std::uint8_t>(const EngineInput&, const SwitchRanking&,
                                               const Costs<std::uint8_t>&, std::span<const SwitchIndex>,
                                               Numbering);
extern template Routes routes_by<std::uint16_t>(const EngineInput&, const SwitchRanking&,
                                                const Costs<std::uint16_t>&, std::span<const SwitchIndex>,
                                                Numbering);

}  // namespace smd::routing::inline engines
