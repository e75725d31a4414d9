// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "routing/engines/dmodk_indices.h"
#include "routing/engines/lft_builder.h"
#include "routing/engines/tree.h"

namespace smd::routing::inline engines {
namespace {

/// If the up/down paths between all leaves are shortest paths, as in a tree with little damage, uses up/down
/// paths for everything.
template <class Cost>
std::optional<Routes> along_tree(const EngineInput& in, const SwitchRanking& tree) {
  const auto all = switches_by_lid(in.context.topology, in.context.lids);
  const auto column = columns_by_switch(in.context.topology, all);
  const auto leaves = in.context.topology.leaves();
  const Costs<Cost> legal(in.context.topology, &tree, all, in.context.parallel);
  const Costs<Cost> shortest(in.context.topology, nullptr, leaves, in.context.parallel);
  if (!legal.complete() || !shortest.complete()) return std::nullopt;
  for (const auto leaf : leaves) {
    const auto by_tree = legal.row(leaf), least = shortest.row(leaf);
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      if (Costs<Cost>::length(by_tree[column[leaves[i]]]) != Costs<Cost>::length(least[i]))
        return std::nullopt;
    }
  }
  return routes_by(in, tree, legal, all, Numbering::dense);
}

/// A shortest path between two top switches of a tree goes down and up again, and such paths together close
/// cycles of channels. So in a tree the LIDs of inner switches get up/down routes only.
template <class Cost>
std::optional<Routes> route(const EngineInput& in, const SwitchRanking& tree) {
  const auto& topology = in.context.topology;
  if (tree.tree) {
    if (auto routes = along_tree<Cost>(in, tree)) return routes;
  }
  std::vector<SwitchIndex> shortest, legal;
  for (const auto s : switches_by_lid(topology, in.context.lids)) {
    (tree.tree && !topology.leaf(s) ? legal : shortest).push_back(s);
  }
  const Costs<Cost> to_shortest(topology, nullptr, shortest, in.context.parallel);
  const Costs<Cost> to_legal(topology, &tree, legal, in.context.parallel);
  if (!to_shortest.complete() || !to_legal.complete()) return std::nullopt;

  const auto column = columns_by_switch(topology, shortest);
  const auto leaves = leaves_by_nearness(topology, [&](SwitchIndex a, SwitchIndex b) {
    return Costs<Cost>::length(to_shortest.row(a)[column[b]]);
  });
  const auto runs = number_lids(topology, in.context.lids, leaves);
  const auto indices = tree.tree ? dmodk_indices(topology, tree, find_tree_template(topology, tree))
                                 : std::vector<DmodkIndex>{};
  const std::array<Columns<Cost>, 2> columns{{{&to_shortest, nullptr, shortest}, {&to_legal, &tree, legal}}};
  return Routes{build_lfts<Cost>(in, columns, {runs, indices, nullptr}), {}};
}

/// Only of a tree that joins all leaves: elsewhere shortest paths go other ways than up and down, and repair
/// by a ranking would take them away.
std::optional<SwitchRanking> tree_ranking(const Topology& topology, const RoutingOptions& /*options*/,
                                          const Parallel& parallel) {
  auto ranking = find_tree(topology);
  if (!ranking.tree) return std::nullopt;
  const WideCosts costs(topology, &ranking, topology.leaves(), parallel);
  if (!costs.complete() || cut_off(topology, costs, topology.leaves())) return std::nullopt;
  return ranking;
}

std::expected<Routes, RouteError> run_minhop(const EngineInput& in) {
  const auto tree = find_tree(in.context.topology);
  auto routes = route<std::uint8_t>(in, tree);
  if (!routes) routes = route<std::uint16_t>(in, tree);
  if (in.context.stop.stop_requested() || !routes) return std::unexpected(RouteError{});
  return *std::move(routes);
}

}  // namespace

extern const EngineInfo kMinhop{.name = "minhop",
                                .summary = "a shortest path for every pair, spread evenly",
                                .run = run_minhop,
                                .ranking = tree_ranking,
                                .spreads_roles = true};

}  // namespace smd::routing::inline engines
