// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/host_planes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "routing/engines/layer_room.h"
#include "routing/engines/load_relief.h"
#include "routing/engines/path_planes.h"
#include "routing/quality/load.h"

namespace smd::routing::inline engines {
namespace {

constexpr std::size_t kMostHostPlanes = 4;

/// Switches times channels: those of a dragonfly of 114 switches, a HyperX of 64.
constexpr std::size_t kMostPlaneWork = std::size_t{1} << 17;

/// The hosts of a switch take turns, port by port. All other end ports have the first plane.
HostPlanes dealt_out(const Topology& topology, const PathTrees& trees, std::size_t planes) {
  HostPlanes all{.planes = std::vector<PathTrees>(planes, trees)};
  all.of_end.resize(topology.end_ports().size());
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    std::size_t turn = 0;
    for (std::size_t i = 0; i < topology.end_ports_of(s).size(); ++i) {
      if (topology.end_ports_of(s)[i].kind != EndKind::aggregation)
        all.of_end[topology.first_end(s) + i] = static_cast<std::uint8_t>(turn++ % planes);
    }
  }
  return all;
}

std::size_t most_hosts(const Topology& topology) {
  std::size_t most = 0;
  for (const auto s : topology.leaves()) most = std::max<std::size_t>(most, topology.hosts(s));
  return most;
}

/// The load of the most loaded cable by time.
double most_loaded(const RoutingContext& in, const Routes& routes) {
  const auto hosts = hosts_in_file_order(in.topology);
  return quality::measure_load(in, routes, hosts, quality::LoadOfShifts::no).max_link_time;
}

/// Nothing: they would be no better.
std::optional<Routes> with_hosts_spread(const RoutingContext& in, const ChannelNet& net, LayeredTrees& found,
                                        const Routes& alone) {
  const bool small = net.switches() * net.size() <= kMostPlaneWork;
  const auto planes = std::min(kMostHostPlanes, most_hosts(in.topology));
  if (!small || planes == 0 || found.graphs.empty() || most_lids(in) != 1) return std::nullopt;
  auto& first = found.graphs.front();
  // Room for multicast: these turns, which stay in the graph, or a tree that must be found again at the end.
  const bool has_turns = first.add(turns_in_trees(in.topology, net));
  const bool can_grow = !has_turns && trees_can_grow(in.topology, net, first);
  auto trees = dealt_out(in.topology, found.planes.front(), planes);
  if (!relieve_links(in, net, trees, {.of_pairs = found.layers.by_pair, .graphs = found.graphs}) ||
      in.stop.stop_requested())
    return std::nullopt;
  if (can_grow && !trees_can_grow(in.topology, net, first)) return std::nullopt;
  Routes routes{tables_along(in, trees.planes, trees.of_end), alone.layers};
  // Parallel cables share whole LIDs: one of them may carry more though all together carry less.
  if (most_loaded(in, routes) >= most_loaded(in, alone)) return std::nullopt;
  return routes;
}

}  // namespace

Routes routes_along(const RoutingContext& in, const ChannelNet& net, LayeredTrees found) {
  Routes alone{tables_along(in, found.planes), found.layers};
  if (auto spread = with_hosts_spread(in, net, found, alone)) return *std::move(spread);
  return alone;
}

}  // namespace smd::routing::inline engines
