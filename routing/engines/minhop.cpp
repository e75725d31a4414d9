// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "routing/engines/spread.h"

namespace smd::routing {
namespace {

/// A shortest path from one top switch of a tree to another goes down and up again, and such paths together
/// close cycles of channels. So in a tree the LIDs of inner switches are routed up and down only.
template <class Cost>
std::optional<Routes> route(const EngineInput& in, const Order& tree) {
  const auto& topology = in.topology;
  std::vector<SwitchIndex> shortest, legal;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    (tree.tree && !topology.leaf(s) ? legal : shortest).push_back(s);
  }
  const Costs<Cost> to_shortest(topology, nullptr, shortest, in.parallel);
  const Costs<Cost> to_legal(topology, &tree, legal, in.parallel);
  if (!to_shortest.complete() || !to_legal.complete()) return std::nullopt;

  std::vector<std::uint32_t> column(topology.switches());
  for (std::uint32_t i = 0; i < shortest.size(); ++i) column[shortest[i]] = i;
  const auto leaves = leaves_by_nearness(topology, [&](SwitchIndex a, SwitchIndex b) {
    return Costs<Cost>::length(to_shortest.row(a)[column[b]]);
  });
  const auto runs = number_lids(topology, in.lids, leaves);
  const auto divider = tree.tree ? dividers(topology, tree) : std::vector<std::uint32_t>{};
  const std::array<Columns<Cost>, 2> columns{{{&to_shortest, nullptr, shortest}, {&to_legal, &tree, legal}}};
  return Routes{fill_rows<Cost>(in, columns, {runs, divider}), {}};
}

}  // namespace

std::optional<Order> tree_order(const Topology& topology, const EngineOptions& /*options*/,
                                const Parallel& /*parallel*/) {
  auto order = find_tree(topology);
  if (!order.tree) return std::nullopt;
  return order;
}

std::expected<Routes, RouteError> minhop(const EngineInput& in) {
  const auto tree = find_tree(in.topology);
  auto routes = route<std::uint8_t>(in, tree);
  if (!routes) routes = route<std::uint16_t>(in, tree);
  if (in.stop.stop_requested() || !routes) return std::unexpected(RouteError{});
  return *std::move(routes);
}

}  // namespace smd::routing
