// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/tree.h"

#include <algorithm>
#include <array>

#include "routing/engines/balanced_tree.h"
#include "routing/engines/lft_builder.h"
#include "routing/engines/rebalance.h"

namespace smd::routing {
namespace {

/// Hosts that do not hang at the bottom: their switch and one that is not above it.
RouteError not_a_tree(const Topology& topology, const Order& order) {
  RouteError error{RouteError::Cause::not_a_tree, {}};
  for (const auto leaf : topology.leaves()) {
    for (std::size_t g = 0; g < topology.groups(leaf); ++g) {
      const auto peer = topology.group(leaf, g).peer;
      if (order.rank[peer] < order.rank[leaf]) continue;
      error.guids = {topology.guid(leaf), topology.guid(peer)};
      return error;
    }
  }
  return error;
}

/// Nothing where paths are too long for the costs.
template <class Cost>
std::optional<std::expected<Routes, RouteError>> attempt(const EngineInput& in, const Order& order,
                                                         Numbering numbering) {
  const auto all = switches_by_lid(in.topology, in.lids);
  const Costs<Cost> costs(in.topology, &order, all, in.parallel);
  if (!costs.complete()) return std::nullopt;
  if (auto error = cut_off(in.topology, costs, all)) return std::unexpected(*std::move(error));
  return routes_by(in, order, costs, all, numbering);
}

}  // namespace

std::expected<std::vector<SwitchIndex>, RouteError> switches_named(const Topology& topology,
                                                                   std::span<const Guid> guids) {
  std::vector<SwitchIndex> found;
  RouteError missing{RouteError::Cause::no_such_root, {}};
  for (const auto guid : guids) {
    const auto s = topology.find(guid);
    if (s == kNoSwitch) {
      missing.guids.push_back(guid);
    } else {
      found.push_back(s);
    }
  }
  if (found.empty() && !missing.guids.empty()) return std::unexpected(std::move(missing));
  return found;
}

std::expected<Order, RouteError> order_of_tree(const Topology& topology, std::span<const Guid> root_guids) {
  const auto roots = switches_named(topology, root_guids);
  if (!roots) return std::unexpected(roots.error());
  auto order = roots->empty() ? find_tree(topology) : order_from_roots(topology, *roots);
  if (!order.tree && !topology.leaves().empty()) return std::unexpected(not_a_tree(topology, order));
  return order;
}

template <std::unsigned_integral Cost>
Routes routes_by(const EngineInput& in, const Order& order, const Costs<Cost>& costs,
                 std::span<const SwitchIndex> destinations, Numbering numbering) {
  const auto column = columns_by_switch(in.topology, destinations);
  const auto leaves = leaves_by_nearness(in.topology, [&](SwitchIndex a, SwitchIndex b) {
    return Costs<Cost>::length(costs.row(a)[column[b]]);
  });
  const auto runs = number_lids(in.topology, in.lids, leaves, numbering);
  const std::array<Columns<Cost>, 1> columns{{{&costs, &order, destinations}}};
  if (!order.tree) return Routes{fill_rows<Cost>(in, columns, {runs, {}, nullptr}), {}};
  const auto shape = find_shape(in.topology, order);
  const auto steps = steps_upwards(in.topology, order, shape);
  auto rows = fill_rows<Cost>(in, columns, {runs, steps, &shape});
  if (!in.stop.stop_requested() && !even(in.topology, order, shape)) {
    relieve<Cost>(in, columns, rows);
  }
  return Routes{std::move(rows), {}};
}

std::expected<Routes, RouteError> route_tree(const EngineInput& in, const Order& order, Numbering numbering) {
  auto routes = attempt<std::uint8_t>(in, order, numbering);
  if (!routes) routes = attempt<std::uint16_t>(in, order, numbering);
  if (in.stop.stop_requested() || !routes) return std::unexpected(RouteError{});
  return *std::move(routes);
}

template Routes routes_by<std::uint8_t>(const EngineInput&, const Order&, const Costs<std::uint8_t>&,
                                        std::span<const SwitchIndex>, Numbering);
template Routes routes_by<std::uint16_t>(const EngineInput&, const Order&, const Costs<std::uint16_t>&,
                                         std::span<const SwitchIndex>, Numbering);

}  // namespace smd::routing
