// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "routing/engines/tree.h"

namespace smd::routing::inline engines {
namespace {

/// Switches that are equally far from hosts in the order of `ties`, instead of that of their GUIDs.
SwitchRanking with_ties_by(SwitchRanking ranking, const SwitchRanking& ties) {
  std::vector<SwitchIndex> order(ranking.rank.size());
  std::iota(order.begin(), order.end(), SwitchIndex{0});
  std::ranges::sort(order, {}, [&](SwitchIndex s) { return std::tuple(ranking.rank[s], ties.position[s]); });
  for (std::uint32_t place = 0; place < order.size(); ++place) ranking.position[order[place]] = place;
  return ranking;
}

bool joins_leaves(const Topology& topology, const SwitchRanking& ranking, const Parallel& parallel) {
  const WideCosts costs(topology, &ranking, topology.leaves(), parallel);
  return costs.complete() && !cut_off(topology, costs, topology.leaves());
}

/// By distance from hosts alone. Where that leaves two hosts without a path, as in a mesh with hosts on all
/// switches, switches that are equally far are ordered from one root, if that is enough.
SwitchRanking from_hosts(const Topology& topology, const Parallel& parallel) {
  auto ranking = rank_from_leaves(topology);
  if (joins_leaves(topology, ranking, parallel)) return ranking;
  for (const auto& ties : single_root_rankings(topology)) {
    if (auto other = with_ties_by(ranking, ties); joins_leaves(topology, other, parallel)) return other;
  }
  return ranking;
}

std::optional<SwitchRanking> dnup_ranking(const Topology& topology, const RoutingOptions& /*options*/,
                                          const Parallel& parallel) {
  return from_hosts(topology, parallel);
}

std::expected<Routes, RouteError> run_dnup(const EngineInput& in) {
  if (in.ranking != nullptr) return route_tree(in, *in.ranking, Numbering::dense);
  auto routes = route_tree(in, rank_from_leaves(in.context.topology), Numbering::dense);
  if (routes || routes.error().cause != RouteError::Cause::no_legal_path) return routes;
  return route_tree(in, from_hosts(in.context.topology, in.context.parallel), Numbering::dense);
}

}  // namespace

extern const EngineInfo kDnup{.name = "dnup",
                              .summary = "up then down, counted from the hosts",
                              .run = run_dnup,
                              .ranking = dnup_ranking,
                              .follows_ranking = true,
                              .spreads_roles = true};

}  // namespace smd::routing::inline engines
