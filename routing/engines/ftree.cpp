// SPDX-License-Identifier: Apache-2.0
// d-mod-k with the alignment of OpenSM's engine of that name: the n-th host of every leaf has the same
// position in the round robin, even if the leaves before it are not full.
#include "routing/engines/tree.h"

namespace smd::routing::inline engines {
namespace {

std::optional<SwitchRanking> ftree_ranking(const Topology& topology, const RoutingOptions& options,
                                           const Parallel& /*parallel*/) {
  auto ranking = ranking_of_tree(topology, options.root_guids);
  if (!ranking) return std::nullopt;
  return *std::move(ranking);
}

std::expected<Routes, RouteError> run_ftree(const EngineInput& in) {
  if (in.ranking != nullptr) return route_tree(in, *in.ranking, Numbering::padded);
  const auto ranking = ranking_of_tree(in.context.topology, in.options.root_guids);
  if (!ranking) return std::unexpected(ranking.error());
  return route_tree(in, *ranking, Numbering::padded);
}

}  // namespace

extern const EngineInfo kFtree{
    .name = "ftree",
    .summary = "for trees: as dmodc, with the n-th hosts of all leaves routed alike",
    .run = run_ftree,
    .ranking = ftree_ranking,
    .follows_ranking = true,
    .uses_roots = true,
    .spreads_roles = true};

}  // namespace smd::routing::inline engines
