// SPDX-License-Identifier: Apache-2.0
// Hoefler, Schneider and Lumsdaine, "Optimized Routing for Large-Scale InfiniBand Networks", 2009: shortest
// paths that avoid loaded links.
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "routing/engines/engine.h"
#include "routing/engines/host_planes.h"
#include "routing/engines/pair_layering.h"
#include "routing/engines/path_trees.h"
#include "routing/engines/tree_balance.h"

namespace smd::routing::inline engines {
namespace {

std::expected<Routes, RouteError> run_sssp(const EngineInput& in) {
  const ChannelNet net(in.context.topology);
  const auto trees = balanced_trees(in.context, net);
  // Paths between inner switches may close cycles where those of hosts do not; they are left out then.
  std::optional<LayeredTrees> found;
  if (auto without = in_layers(in.context, net, trees, 1)) found = *std::move(without);
  if (!found && net.switches() <= kMostWithOtherTies) found = in_one_layer_by_ports(in.context, net);
  if (in.context.stop.stop_requested()) return std::unexpected(RouteError{});
  if (found) return routes_along(in.context, net, *std::move(found));
  return Routes{tables_along(in.context, std::span(&trees, 1)), {}};
}

}  // namespace

extern const EngineInfo kSssp{
    .name = "sssp", .summary = "shortest paths that avoid loaded links", .run = run_sssp};

}  // namespace smd::routing::inline engines
