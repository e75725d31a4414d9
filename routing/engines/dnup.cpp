// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/tree.h"

namespace smd::routing::inline engines {
namespace {

std::optional<SwitchRanking> dnup_ranking(const Topology& topology, const RoutingOptions& /*options*/,
                                          const Parallel& /*parallel*/) {
  return rank_from_leaves(topology);
}

std::expected<Routes, RouteError> run_dnup(const EngineInput& in) {
  if (in.ranking != nullptr) return route_tree(in, *in.ranking, Numbering::dense);
  return route_tree(in, rank_from_leaves(in.context.topology), Numbering::dense);
}

}  // namespace

extern const EngineInfo kDnup{.name = "dnup",
                              .summary = "up then down, counted from the hosts",
                              .run = run_dnup,
                              .ranking = dnup_ranking,
                              .follows_ranking = true,
                              .spreads_roles = true};

}  // namespace smd::routing::inline engines
