// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/tree.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <ranges>
#include <utility>

#include "routing/engines/balanced_tree.h"
#include "routing/engines/counted_routes.h"
#include "routing/engines/descending_paths.h"
#include "routing/engines/dmodk_indices.h"
#include "routing/engines/leaf_order.h"
#include "routing/engines/lft_builder.h"
#include "routing/engines/rebalance.h"
#include "routing/engines/round_robin_levels.h"
#include "routing/quality/load.h"
#include "routing/ranking/structural_order.h"

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

namespace {

/// The input of route_ordered().
template <class Cost>
struct TreeJob {
  const EngineInput& in;
  const SwitchRanking& ranking;
  const TreeTemplate& tree_template;
  const Costs<Cost>& costs;
  std::span<const SwitchIndex> destinations;
  Numbering numbering;
  bool regular = false;   ///< is_regular()
  bool balanced = false;  ///< and is_whole()
};

template <class Cost>
std::vector<SwitchIndex> leaf_order(const EngineInput& in, const Costs<Cost>& costs,
                                    std::span<const SwitchIndex> destinations) {
  const auto column = columns_by_switch(in.context.topology, destinations);
  return leaves_by_nearness(in.context.topology, [&](SwitchIndex a, SwitchIndex b) {
    return Costs<Cost>::length(costs.row(a)[column[b]]);
  });
}

/// Whether the closed form with these indices is even by construction, in a tree that is_regular().
bool even(std::span<const DmodkIndex> indices) {
  return std::ranges::all_of(indices, [](const auto& i) { return i.residues.size() == 1; });
}

/// Where cables are missing. Of few hosts the routes to each stay on one cable if that is better: an even
/// load would tear up all tables, and shifts would collide.
template <class Cost>
void rebalance_damaged(const EngineInput& in, std::span<const Columns<Cost>> columns,
                       std::span<const SwitchIndex> leaves, Rows& rows) {
  auto together = rows;
  const auto split = rebalance<Cost>(in, columns, rows, Rebalance::damaged);
  if (!split.splits || in.context.stop.stop_requested()) return;
  const auto whole = rebalance<Cost>(in, columns, together, Rebalance::together);
  const auto hosts = hosts_of_leaves(in.context.topology, leaves);
  const auto cost = [&](const Rows& tables, Weight highest) {
    return cost_in_tree(static_cast<double>(highest), measure_few_shifts(in.context, {tables, {}}, hosts));
  };
  if (cost(together, whole.after) < cost(rows, split.after)) rows = std::move(together);
}

/// Routes a tree whose switches are in structural order, as far as it matters.
template <class Cost>
Routes route_ordered(const TreeJob<Cost>& job, std::span<const DmodkIndex> indices) {
  const auto leaves = leaf_order(job.in, job.costs, job.destinations);
  const bool closed_as_built = job.regular && even(indices), closed = closed_as_built && job.balanced;
  // Whatever is missing, or a fault would move the numbers of all hosts.
  const auto levels = closed_as_built ? round_robin_levels(job.tree_template, job.ranking, indices, leaves)
                                      : std::vector<RoundRobinLevel>{};
  const auto runs = number_lids(job.in.context.topology, job.in.context.lids, leaves, job.numbering, levels);
  const std::array<Columns<Cost>, 1> columns{{{&job.costs, &job.ranking, job.destinations}}};
  const bool whole = closed || is_whole(job.in.context.topology, job.tree_template);
  const bool dealt_out = !whole && is_dealt_out(job.in.context.topology, job.ranking, job.tree_template);
  if (!closed && job.numbering == Numbering::padded && descending_passes(job.in.context) != 0)
    return {route_by_counts<Cost>(job.in, columns, runs, hosts_of_leaves(job.in.context.topology, leaves),
                                  whole || dealt_out),
            {}};
  auto rows = build_lfts<Cost>(job.in, columns, {runs, indices, &job.tree_template});
  if (!closed && !job.in.context.stop.stop_requested()) {
    if (whole || dealt_out) {
      rebalance<Cost>(job.in, columns, rows, whole ? Rebalance::round_robin : Rebalance::damaged);
    } else {
      rebalance_damaged<Cost>(job.in, columns, leaves, rows);
    }
  }
  return {std::move(rows), {}, !closed_as_built || dealt_out};
}

/// A tree with its switches in structural order.
struct OrderedTree {
  Topology topology;
  LidMap lids;
  SwitchRanking ranking;
  TreeTemplate tree_template;
  std::vector<SwitchIndex> place;  ///< by switch of the fabric its place in the order

  OrderedTree(const RoutingContext& context, const SwitchRanking& of_fabric,
              std::span<const SwitchIndex> order)
      : topology(context.topology.reordered(order)),
        lids(context.lids.reordered(context.topology, topology, order)),
        ranking{.rank = {}, .position = {}, .tree = of_fabric.tree},
        place(order.size()) {
    for (SwitchIndex i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      ranking.rank.push_back(of_fabric.rank[order[i]]);
      ranking.position.push_back(of_fabric.position[order[i]]);
    }
    tree_template = find_tree_template(topology, ranking);
  }

  EngineInput input(const EngineInput& in) const {
    return {.context = {topology, lids, in.context.parallel, in.context.stop},
            .options = in.options,
            .vl_budget = in.vl_budget,
            .seed = in.seed};
  }
};

/// The tables of the fabric's switches, of those in this order.
Routes in_order_of_fabric(Routes routes, std::span<const SwitchIndex> order) {
  Rows rows(routes.rows.size());
  for (SwitchIndex i = 0; i < order.size(); ++i) rows[order[i]] = std::move(routes.rows[i]);
  routes.rows = std::move(rows);
  return routes;
}

/// What decides how a tree is routed.
struct TreeShape {
  TreeTemplate tree_template;
  std::vector<SwitchIndex> order;  ///< structural
  bool regular = false, balanced = false;
};

TreeShape shape_of(const Topology& topology, const SwitchRanking& ranking) {
  TreeShape shape{.tree_template = find_tree_template(topology, ranking), .order = {}};
  shape.order = structural_order(topology, ranking, shape.tree_template);
  shape.regular = is_regular(topology, ranking, shape.tree_template);
  shape.balanced = shape.regular && is_whole(topology, shape.tree_template);
  return shape;
}

template <class Cost>
Routes routes_by_shape(const EngineInput& in, const SwitchRanking& ranking, const TreeShape& shape,
                       const Costs<Cost>& costs, std::span<const SwitchIndex> destinations,
                       Numbering numbering) {
  const auto& topology = in.context.topology;
  const auto& [tree_template, order, regular, balanced] = shape;
  if (balanced && is_ordered(topology, ranking, order)) {
    const auto indices = dmodk_indices(topology, ranking, tree_template);
    if (even(indices))
      return route_ordered<Cost>(
          {in, ranking, tree_template, costs, destinations, numbering, regular, balanced}, indices);
  }
  const OrderedTree tree(in.context, ranking, order);
  std::vector<SwitchIndex> there;
  for (const auto s : destinations) there.push_back(tree.place[s]);
  const auto input = tree.input(in);
  const auto indices = dmodk_indices(tree.topology, tree.ranking, tree.tree_template);
  const auto reordered = costs.reordered(order);
  return in_order_of_fabric(
      route_ordered<Cost>(
          {input, tree.ranking, tree.tree_template, reordered, there, numbering, regular, balanced}, indices),
      order);
}

/// Nothing: paths are too long for the cost type.
template <class Cost>
using Attempt = std::optional<std::expected<Routes, RouteError>>;

/// A tree that the closed form balances, whatever its GUIDs and LIDs: all is computed in structural order, in
/// which what is alike lies side by side. Nothing: it is another one.
template <class Cost>
std::optional<Attempt<Cost>> attempt_in_order(const EngineInput& in, const SwitchRanking& ranking,
                                              std::span<const SwitchIndex> order, Numbering numbering) {
  const OrderedTree tree(in.context, ranking, order);
  const auto indices = dmodk_indices(tree.topology, tree.ranking, tree.tree_template);
  if (!even(indices)) return std::nullopt;
  std::vector<SwitchIndex> destinations(tree.topology.leaves().begin(), tree.topology.leaves().end());
  for (SwitchIndex s = 0; s < tree.topology.switches(); ++s) {
    if (!tree.topology.leaf(s)) destinations.push_back(s);
  }
  const Costs<Cost> costs(tree.topology, &tree.ranking, destinations, in.context.parallel);
  if (!costs.complete()) return Attempt<Cost>{};
  if (auto error = cut_off(tree.topology, costs, destinations))
    return Attempt<Cost>(std::unexpected(*std::move(error)));
  const auto input = tree.input(in);
  return Attempt<Cost>(in_order_of_fabric(
      route_ordered<Cost>(
          {input, tree.ranking, tree.tree_template, costs, destinations, numbering, true, true}, indices),
      order));
}

bool same_leaf_order(const Topology& topology, std::span<const SwitchIndex> one,
                     std::span<const SwitchIndex> other) {
  const auto is_leaf = [&](SwitchIndex s) { return topology.leaf(s); };
  return std::ranges::equal(one | std::views::filter(is_leaf), other | std::views::filter(is_leaf));
}

template <class Cost>
Attempt<Cost> attempt(const EngineInput& in, const SwitchRanking& ranking, Numbering numbering) {
  const auto& topology = in.context.topology;
  const auto all = switches_by_lid(topology, in.context.lids);
  std::optional<TreeShape> shape;
  if (ranking.tree) shape = shape_of(topology, ranking);
  if (shape && shape->balanced) {
    // Switches that are in order already keep theirs: it numbers their own LIDs.
    auto order = shape->order;
    const bool ordered = is_ordered(topology, ranking, order);
    if (ordered) std::iota(order.begin(), order.end(), SwitchIndex{0});
    if (!ordered || !same_leaf_order(topology, all, order)) {
      if (auto done = attempt_in_order<Cost>(in, ranking, order, numbering)) return *std::move(done);
    }
  }
  const Costs<Cost> costs(topology, &ranking, all, in.context.parallel);
  if (!costs.complete()) return std::nullopt;
  if (auto error = cut_off(topology, costs, all)) return std::unexpected(*std::move(error));
  if (shape) return routes_by_shape<Cost>(in, ranking, *shape, costs, all, numbering);
  return routes_by(in, ranking, costs, all, numbering);
}

}  // namespace

template <std::unsigned_integral Cost>
Routes routes_by(const EngineInput& in, const SwitchRanking& ranking, const Costs<Cost>& costs,
                 std::span<const SwitchIndex> destinations, Numbering numbering) {
  const auto& topology = in.context.topology;
  if (ranking.tree)
    return routes_by_shape<Cost>(in, ranking, shape_of(topology, ranking), costs, destinations, numbering);
  const auto runs = number_lids(topology, in.context.lids, leaf_order(in, costs, destinations), numbering);
  const std::array<Columns<Cost>, 1> columns{{{&costs, &ranking, destinations}}};
  return Routes{build_lfts<Cost>(in, columns, {runs, {}, nullptr}), {}};
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
