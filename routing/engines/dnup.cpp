// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/tree.h"

namespace smd::routing {

std::optional<SwitchRanking> dnup_ranking(const Topology& topology, const EngineOptions& /*options*/,
                                          const Parallel& /*parallel*/) {
  return rank_from_leaves(topology);
}

std::expected<Routes, RouteError> dnup(const EngineInput& in) {
  return route_tree(in, rank_from_leaves(in.topology), Numbering::dense);
}

}  // namespace smd::routing
