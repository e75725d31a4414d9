// SPDX-License-Identifier: Apache-2.0
// Domke, Hoefler and Nagel, "Deadlock-Free Oblivious Routing for Arbitrary Topologies", 2011: the paths of
// sssp, in as many layers as they need to be free of credit loops.
#include <utility>

#include "routing/engines/engine.h"
#include "routing/engines/host_planes.h"
#include "routing/engines/pair_layering.h"
#include "routing/engines/torus_paths.h"
#include "routing/engines/tree_balance.h"

namespace smd::routing::inline engines {
namespace {

std::expected<Routes, RouteError> run_dfsssp(const EngineInput& in) {
  const ChannelNet net(in.context.topology);
  auto paths = in_layers(in.context, net, balanced_trees(in.context, net), in.vl_budget);
  // Even loads need many different turns. Where these are too many, the paths of lash may do with fewer.
  if (!paths && !in.context.stop.stop_requested()) paths = paths_in_order(in.context, net, in.vl_budget);
  if (in.context.stop.stop_requested()) return std::unexpected(RouteError{});
  if (!paths) return std::unexpected(paths.error());
  return routes_along(in.context, net, *std::move(paths));
}

}  // namespace

extern const EngineInfo kDfsssp{.name = "dfsssp",
                                .summary = "shortest paths that avoid loaded links, in several layers",
                                .run = run_dfsssp,
                                .layered = true};

}  // namespace smd::routing::inline engines
