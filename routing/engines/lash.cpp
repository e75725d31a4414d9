// SPDX-License-Identifier: Apache-2.0
// Skeie, Lysne and Theiss, "Layered Shortest Path (LASH) Routing in Irregular System Area Networks", 2002;
// Lysne, Skeie, Reinemo and Theiss, "Layered Routing in Irregular Networks", 2006: one shortest path a pair
// of switches, each pair in the first layer in which it closes no cycle.
#include <utility>

#include "routing/engines/engine.h"
#include "routing/engines/path_trees.h"
#include "routing/engines/torus_paths.h"

namespace smd::routing::inline engines {
namespace {

std::expected<Routes, RouteError> run_lash(const EngineInput& in) {
  const ChannelNet net(in.context.topology);
  auto paths = paths_in_order(in.context, net, in.vl_budget);
  if (in.context.stop.stop_requested()) return std::unexpected(RouteError{});
  if (!paths) return std::unexpected(paths.error());
  return Routes{tables_along(in.context, paths->planes), std::move(paths->layers)};
}

}  // namespace

extern const EngineInfo kLash{.name = "lash",
                              .summary = "a shortest path for every pair of switches, in several layers",
                              .run = run_lash,
                              .layered = true};

}  // namespace smd::routing::inline engines
