// SPDX-License-Identifier: Apache-2.0
// d-mod-k with the alignment that OpenSM's engine of this name keeps: the n-th host of every leaf takes the
// same turn, whether the leaves before it are full or not.
#include "routing/engines/tree.h"

namespace smd::routing {
std::optional<SwitchRanking> ftree_ranking(const Topology& topology, const EngineOptions& options,
                                           const Parallel& /*parallel*/) {
  auto ranking = ranking_of_tree(topology, own_options<FtreeOptions>(options).root_guids);
  if (!ranking) return std::nullopt;
  return *std::move(ranking);
}

std::expected<Routes, RouteError> ftree(const EngineInput& in) {
  const auto ranking = ranking_of_tree(in.topology, own_options<FtreeOptions>(in.options).root_guids);
  if (!ranking) return std::unexpected(ranking.error());
  return route_tree(in, *ranking, Numbering::padded);
}

}  // namespace smd::routing
