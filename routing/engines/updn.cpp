// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "routing/engines/tree.h"

namespace smd::routing::inline engines {
namespace {

constexpr auto kNothing = std::numeric_limits<std::uint64_t>::max();
/// Re-rooting tries at most so many leaves per component.
constexpr std::size_t kRerootTrials = 4;

/// Sum of hosts times hops over all pairs of leaves; kNothing if a connected pair of leaves has no legal
/// path.
template <class Cost>
std::uint64_t total_length(const Topology& topology, const Costs<Cost>& costs,
                           std::span<const SwitchIndex> destinations) {
  std::uint64_t total = 0;
  for (const auto s : topology.leaves()) {
    const auto row = costs.row(s);
    for (std::size_t i = 0; i < destinations.size(); ++i) {
      const auto d = destinations[i];
      if (!topology.leaf(d) || topology.component(d) != topology.component(s)) continue;
      if (row[i] == Costs<Cost>::kUnreachable) return kNothing;
      total += std::uint64_t{topology.hosts(s)} * topology.hosts(d) * Costs<Cost>::length(row[i]);
    }
  }
  return total;
}

/// The single-root ranking with the shortest paths, measured from a sample of the leaves.
SwitchRanking best_single_root(const Topology& topology, const Parallel& parallel) {
  const auto leaves = topology.leaves();
  const std::size_t count = std::min<std::size_t>(leaves.size(), 512);
  std::vector<SwitchIndex> sample;
  sample.reserve(count);
  for (std::size_t i = 0; i < count; ++i) sample.push_back(leaves[i * leaves.size() / count]);
  auto rankings = single_root_rankings(topology);
  std::size_t best = 0;
  std::uint64_t least = kNothing;
  for (std::size_t i = 0; i < rankings.size(); ++i) {
    const auto total = total_length(topology, WideCosts(topology, &rankings[i], sample, parallel), sample);
    if (total < least) {
      least = total;
      best = i;
    }
  }
  return std::move(rankings[best]);
}

template <class Cost>
struct Ranked {
  SwitchRanking ranking;
  Costs<Cost> costs;
};

/// The leaves for trial number `turn`, one per component.
std::vector<SwitchIndex> reroot_leaves(const Topology& topology, std::size_t turn) {
  std::vector<std::vector<SwitchIndex>> leaves(topology.components());
  for (const auto leaf : full_leaves(topology)) leaves[topology.component(leaf)].push_back(leaf);
  std::vector<SwitchIndex> chosen;
  for (const auto& here : leaves) {
    if (!here.empty()) chosen.push_back(here[turn * here.size() / kRerootTrials]);
  }
  return chosen;
}

/// Hosts on inner switches may be joined only by paths that go down and up again. The tree re-rooted at a
/// leaf keeps all other paths, and their round robin.
template <class Cost>
std::optional<Ranked<Cost>> reroot(const Topology& topology, const SwitchRanking& tree,
                                   std::span<const SwitchIndex> all, const Parallel& parallel) {
  std::optional<Ranked<Cost>> best;
  std::uint64_t least = kNothing;
  for (std::size_t turn = 0; turn < kRerootTrials; ++turn) {
    auto ranking = reroot_at_leaves(topology, tree, reroot_leaves(topology, turn));
    Costs<Cost> costs(topology, &ranking, all, parallel);
    const auto total = costs.complete() ? total_length(topology, costs, all) : kNothing;
    if (total >= least) continue;
    least = total;
    best = {std::move(ranking), std::move(costs)};
  }
  return best;
}

/// The ranking if no roots are given: that of the tree if every pair of hosts has a legal path in it, as it
/// is or re-rooted at a leaf; else the best single-root ranking.
template <class Cost>
Ranked<Cost> choose(const Topology& topology, std::span<const SwitchIndex> all, const Parallel& parallel) {
  auto tree = find_tree(topology);
  if (tree.tree) {
    Costs<Cost> costs(topology, &tree, all, parallel);
    if (!costs.complete() || total_length(topology, costs, all) != kNothing) {
      return {std::move(tree), std::move(costs)};
    }
    if (auto rerooted = reroot<Cost>(topology, tree, all, parallel)) return *std::move(rerooted);
  }
  auto ranking = best_single_root(topology, parallel);
  Costs<Cost> costs(topology, &ranking, all, parallel);
  return {std::move(ranking), std::move(costs)};
}

template <class Cost>
Ranked<Cost> from_roots(const EngineInput& in, std::span<const SwitchIndex> roots,
                        std::span<const SwitchIndex> all) {
  auto ranking = rank_from_roots(in.context.topology, roots);
  Costs<Cost> costs(in.context.topology, &ranking, all, in.context.parallel);
  return {std::move(ranking), std::move(costs)};
}

template <class Cost>
std::optional<Routes> route(const EngineInput& in, std::span<const SwitchIndex> roots) {
  const auto all = switches_by_lid(in.context.topology, in.context.lids);
  const auto chosen = roots.empty() ? choose<Cost>(in.context.topology, all, in.context.parallel)
                                    : from_roots<Cost>(in, roots, all);
  const auto& [ranking, costs] = chosen;
  if (!costs.complete()) return std::nullopt;

  return routes_by(in, ranking, costs, all, Numbering::dense);
}

std::optional<SwitchRanking> updn_ranking(const Topology& topology, const RoutingOptions& options,
                                          const Parallel& parallel) {
  const auto roots = switches_named(topology, options.root_guids);
  if (roots && !roots->empty()) return rank_from_roots(topology, *roots);
  return choose<std::uint16_t>(topology, topology.leaves(), parallel).ranking;
}

std::expected<Routes, RouteError> run_updn(const EngineInput& in) {
  if (in.ranking != nullptr) return route_tree(in, *in.ranking, Numbering::dense);
  const auto roots = switches_named(in.context.topology, in.options.root_guids);
  if (!roots) return std::unexpected(roots.error());
  auto routes = route<std::uint8_t>(in, *roots);
  if (!routes) routes = route<std::uint16_t>(in, *roots);
  if (in.context.stop.stop_requested() || !routes) return std::unexpected(RouteError{});
  return *std::move(routes);
}

}  // namespace

extern const EngineInfo kUpdn{.name = "updn",
                              .summary = "up then down from the roots: free of credit loops on any fabric",
                              .run = run_updn,
                              .ranking = updn_ranking,
                              .follows_ranking = true,
                              .uses_roots = true,
                              .spreads_roles = true};

}  // namespace smd::routing::inline engines
