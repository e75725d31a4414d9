// SPDX-License-Identifier: Apache-2.0
// The closed form of Gliksberg et al. ("High-Quality Fault Resiliency in Fat Trees", IEEE Micro 40(1), 2020),
// which extends Zahavi's d-mod-k to damaged trees. Round robin runs over the undamaged tree, so that a fault
// moves only the routes that would have used the missing part.
#include "routing/engines/tree.h"

namespace smd::routing::inline engines {
namespace {

std::optional<SwitchRanking> dmodc_ranking(const Topology& topology, const RoutingOptions& options,
                                           const Parallel& /*parallel*/) {
  auto ranking = ranking_of_tree(topology, options.root_guids);
  if (!ranking) return std::nullopt;
  return *std::move(ranking);
}

std::expected<Routes, RouteError> run_dmodc(const EngineInput& in) {
  if (in.ranking != nullptr) return route_tree(in, *in.ranking, Numbering::dense);
  const auto ranking = ranking_of_tree(in.context.topology, in.options.root_guids);
  if (!ranking) return std::unexpected(ranking.error());
  return route_tree(in, *ranking, Numbering::dense);
}

}  // namespace

extern const EngineInfo kDmodc{
    .name = "dmodc",
    .summary = "for trees, whole or damaged: a closed form that balances every level",
    .run = run_dmodc,
    .ranking = dmodc_ranking,
    .follows_ranking = true,
    .uses_roots = true,
    .spreads_roles = true};

}  // namespace smd::routing::inline engines
