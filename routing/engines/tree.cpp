// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/tree.h"

#include <algorithm>
#include <array>

#include "routing/engines/balanced_tree.h"
#include "routing/engines/lft_builder.h"
#include "routing/engines/rebalance.h"

namespace smd::routing::inline engines {
namespace {

/// Names a leaf with a neighbour that is not above it.
RouteError not_a_tree(const Topology& topology, const SwitchRanking& ranking) {
  RouteError error{RouteError::Cause::not_a_tree, {}};
  for (const auto leaf : topology.leaves()) {
    for (std::size_t g = 0; g < topology.groups(leaf); ++g) {
      const auto peer = topology.group(leaf, g).peer;
      if (ranking.rank[peer] < ranking.rank[leaf]) continue;
      error.guids = {topology.guid(leaf), topology.guid(peer)};
      return error;
    }
  }
  return error;
}

/// Nothing if paths are too long for the cost type.
template <class Cost>
std::optional<std::expected<Routes, RouteError>> attempt(const EngineInput& in, const SwitchRanking& ranking,
                                                         Numbering numbering) {
  const auto all = switches_by_lid(in.context.topology, in.context.lids);
  const Costs<Cost> costs(in.context.topology, &ranking, all, in.context.parallel);
  if (!costs.complete()) return std::nullopt;
  if (auto error = cut_off(in.context.topology, costs, all)) return std::unexpected(*std::move(error));
  return routes_by(in, ranking, costs, all, numbering);
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

std::expected<SwitchRanking, RouteError> ranking_of_tree(const Topology& topology,
                                                         std::span<const Guid> root_guids) {
  const auto roots = switches_named(topology, root_guids);
  if (!roots) return std::unexpected(roots.error());
  auto ranking = roots->empty() ? find_tree(topology) : rank_from_roots(topology, *roots);
  if (!ranking.tree && !topology.leaves().empty()) return std::unexpected(not_a_tree(topology, ranking));
  return ranking;
}

template <std::unsigned_integral Cost>
Routes routes_by(const EngineInput& in, const SwitchRanking& ranking, const Costs<Cost>& costs,
                 std::span<const SwitchIndex> destinations, Numbering numbering) {
  const auto column = columns_by_switch(in.context.topology, destinations);
  const auto leaves = leaves_by_nearness(in.context.topology, [&](SwitchIndex a, SwitchIndex b) {
    return Costs<Cost>::length(costs.row(a)[column[b]]);
  });
  const auto runs = number_lids(in.context.topology, in.context.lids, leaves, numbering);
  const std::array<Columns<Cost>, 1> columns{{{&costs, &ranking, destinations}}};
  if (!ranking.tree) return Routes{build_lfts<Cost>(in, columns, {runs, {}, nullptr}), {}};
  const auto tree_template = find_tree_template(in.context.topology, ranking);
  const auto indices = dmodk_indices(in.context.topology, ranking, tree_template);
  auto rows = build_lfts<Cost>(in, columns, {runs, indices, &tree_template});
  if (!in.context.stop.stop_requested() && !is_balanced(in.context.topology, ranking, tree_template)) {
    rebalance<Cost>(in, columns, rows);
  }
  return Routes{std::move(rows), {}};
}

std::expected<Routes, RouteError> route_tree(const EngineInput& in, const SwitchRanking& ranking,
                                             Numbering numbering) {
  auto routes = attempt<std::uint8_t>(in, ranking, numbering);
  if (!routes) routes = attempt<std::uint16_t>(in, ranking, numbering);
  if (in.context.stop.stop_requested() || !routes) return std::unexpected(RouteError{});
  return *std::move(routes);
}

template Routes routes_by<std::uint8_t>(const EngineInput&, const SwitchRanking&, const Costs<std::uint8_t>&,
                                        std::span<const SwitchIndex>, Numbering);
template Routes routes_by<std::uint16_t>(const EngineInput&, const SwitchRanking&,
                                         const Costs<std::uint16_t>&, std::span<const SwitchIndex>,
                                         Numbering);

}  // namespace smd::routing::inline engines
