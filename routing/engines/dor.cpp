// SPDX-License-Identifier: Apache-2.0
// Dimension order routing (Dally and Seitz, "Deadlock-Free Message Routing in Multiprocessor Interconnection
// Networks", 1987) for meshes, hypercubes, HyperX and tori whose dimensions are found from the cabling.
#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "routing/engines/destination_order.h"
#include "routing/engines/engine.h"
#include "routing/engines/host_planes.h"
#include "routing/engines/lattice.h"
#include "routing/engines/lattice_line.h"
#include "routing/engines/pair_layering.h"
#include "routing/engines/path_trees.h"
#include "routing/engines/port_selection.h"
#include "routing/engines/tree_balance.h"
#include "routing/quality/load.h"

namespace smd::routing::inline engines {
namespace {

using KindCounts = std::array<std::uint32_t, kLidKinds>;

struct LidOfKind {
  Lid lid;
  LidKind kind = LidKind::host;
};

/// The ports of one switch within a line: the least used of those that lead on, by kind of LIDs.
struct LinePorts {
  Candidates ports;
  std::array<std::array<std::uint32_t, 256>, kLidKinds> used{};
  std::array<std::size_t, kLidKinds> turn{};
};

/// Coordinates are made equal to those of the destination one after the other. So packets wait for channels
/// of the same line or of a later dimension only, and within a line LatticeLine keeps channels from waiting
/// in a cycle: one VL is enough. An entry stays empty where a line has no switch with the wanted coordinate,
/// or no cable to it any more.
class DimensionOrder {
 public:
  DimensionOrder(const EngineInput& in, const Lattice& lattice)
      : in_(in),
        topology_(in.context.topology),
        lattice_(lattice),
        order_(lines_of(lattice, lattice.dimensions - 1).switches) {
    std::vector<std::vector<Lid>> lids_of(topology_.switches());
    for (std::size_t value = 1; value < in.context.lids.row_size(); ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      const auto to = in.context.lids.destination(lid);
      if (to.sw != kNoSwitch) lids_of[to.sw].push_back(lid);
    }
    for (const auto s : order_) {
      first_lid_.push_back(lids_.size());
      for (const auto lid : lids_of[s])
        lids_.push_back({lid, kind_of(topology_, in.context.lids.destination(lid))});
    }
    first_lid_.push_back(lids_.size());
    for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
      rows_.push_back(std::make_shared<LftRow>(in.context.lids.row_size(), kNoRoute));
      for (const auto lid : lids_of[s])
        (*rows_[s])[lid.value()] = in.context.lids.destination(lid).port.value();
    }
  }

  std::vector<std::shared_ptr<const LftRow>> run() {
    for (std::size_t d = 0; d < lattice_.dimensions; ++d) {
      const auto lines = lines_of(lattice_, d);
      std::vector<std::uint32_t> line_of(topology_.switches()), at(topology_.switches());
      for (std::uint32_t i = 0; i < lines.size(); ++i) {
        for (std::uint32_t k = lines.begin[i]; k < lines.begin[i + 1]; ++k) {
          line_of[lines.switches[k]] = i;
          at[lines.switches[k]] = k - lines.begin[i];
        }
      }
      in_.context.parallel.for_each(lines.size(), [&](std::size_t i) {
        const auto members = lines.line(i);
        if (members.size() < 2 || in_.context.stop.stop_requested()) return;
        // Rings keep no traffic through the switch opposite to the root: each line has another root.
        LatticeLine line(topology_, members, line_of, at, i % members.size());
        route(line, members, d);
      });
    }
    return {rows_.begin(), rows_.end()};
  }

 private:
  static bool one_group(const GroupSet& set) {
    int groups = 0;
    for (const auto word : set.words) groups += std::popcount(word);
    return groups == 1;
  }

  void route(LatticeLine& line, std::span<const SwitchIndex> members, std::size_t d) {
    std::vector<LinePorts> ports(members.size());
    // Ways around a missing cable come second: they take the cables that are used least then.
    for (const bool choice : {false, true}) {
      for (std::uint32_t target = 0; target < members.size(); ++target) {
        line.towards(target);
        const auto lids = beyond(members[target], d);
        KindCounts counts{};
        for (const auto& of : lids) ++counts[static_cast<std::size_t>(of.kind)];
        for (std::uint32_t place = 0; place < members.size(); ++place) {
          const auto set = line.next(place);
          if (set.empty() || choice == one_group(set)) continue;
          ports[place].ports.reset(topology_, members[place], set);
          write(ports[place], members[place], lids, counts);
        }
      }
    }
  }

  /// The LIDs of packets that leave the line at `s`: those of switches with the same coordinates up to `d`.
  std::span<const LidOfKind> beyond(SwitchIndex s, std::size_t d) const {
    const auto prefix = [&](SwitchIndex of) { return lattice_.of(of).first(d + 1); };
    const auto before = [](std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
      return std::ranges::lexicographical_compare(a, b);
    };
    const auto found = std::ranges::equal_range(order_, prefix(s), before, prefix);
    const auto first = first_lid_[static_cast<std::size_t>(found.begin() - order_.begin())];
    const auto end = first_lid_[static_cast<std::size_t>(found.end() - order_.begin())];
    return std::span(lids_).subspan(first, end - first);
  }

  void write(LinePorts& from, SwitchIndex s, std::span<const LidOfKind> lids, const KindCounts& counts) {
    const auto ports = from.ports.ports();
    auto& row = *rows_[s];
    if (ports.size() == 1) {
      for (const auto& to : lids) row[to.lid.value()] = ports.front();
      for (std::size_t kind = 0; kind < kLidKinds; ++kind) from.used[kind][ports.front()] += counts[kind];
      return;
    }
    for (const auto& to : lids) {
      const auto kind = static_cast<std::size_t>(to.kind);
      const auto first = (s + from.turn[kind]++) % ports.size();
      const auto port = ports[least_used(topology_, s, ports, from.used[kind], first)];
      ++from.used[kind][port];
      row[to.lid.value()] = port;
    }
  }

  const EngineInput& in_;
  const Topology& topology_;
  const Lattice& lattice_;
  std::vector<SwitchIndex> order_;      ///< by coordinates, the first dimension counting most
  std::vector<LidOfKind> lids_;         ///< by switch, in that order
  std::vector<std::size_t> first_lid_;  ///< of each switch in that order, and the end
  std::vector<std::shared_ptr<LftRow>> rows_;
};

/// Shortest paths that close no cycle in one layer, balanced or, as opensm's dor has them, by the order of
/// ports.
std::optional<Routes> by_shortest_paths(const RoutingContext& in) {
  if (in.topology.switches() > kMostWithOtherTies) return std::nullopt;
  const ChannelNet net(in.topology);
  std::optional<LayeredTrees> found;
  if (auto balanced = in_layers(in, net, balanced_trees(in, net), 1)) found = *std::move(balanced);
  if (!found) found = in_one_layer_by_ports(in, net);
  if (!found || in.stop.stop_requested()) return std::nullopt;
  auto routes = routes_along(in, net, *std::move(found));
  routes.layers = {};
  return routes;
}

/// Lines of a dimension differ in their switches or cables, or a row is not all cabled with each other.
bool is_damaged(const Lattice& lattice, const Topology& topology) {
  for (std::size_t d = 0; d < lattice.dimensions; ++d) {
    const auto lines = lines_of(lattice, d);
    std::vector<std::size_t> line_of(topology.switches()), joined(lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      for (const auto s : lines.line(i)) line_of[s] = i;
    }
    for (SwitchIndex s = 0; s < topology.switches(); ++s) {
      for (std::size_t g = 0; g < topology.groups(s); ++g)
        joined[line_of[s]] += line_of[topology.group(s, g).peer] == line_of[s] ? 1U : 0U;
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto size = lines.line(i).size();
      const bool row = joined[i] > 2 * size;  // no path or ring
      if (row && joined[i] != size * (size - 1)) return true;
      if (joined[i] != joined[0] || size != lines.line(0).size()) return true;
    }
  }
  return false;
}

/// Some switch has no entry for some end port.
bool lacks_entries(const RoutingContext& in, const Routes& routes) {
  for (std::size_t value = 1; value < in.lids.row_size(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    const auto to = in.lids.destination(lid);
    const auto without = [&](const auto& row) { return entry(row.get(), lid) == kNoRoute; };
    const bool routed = to.sw != kNoSwitch && to.end != kNoEnd;
    if (routed && std::ranges::any_of(routes.rows, without)) return true;
  }
  return false;
}

/// The load of the most loaded cable by time.
double most_loaded_cable(const RoutingContext& in, const Routes& routes) {
  return quality::measure_load(in, routes, hosts_in_file_order(in.topology), LoadOfShifts::no).max_link_time;
}

/// Around missing cables dimension order loads a few links with much: shortest paths may carry less there.
Routes or_shortest_paths(const RoutingContext& in, const Lattice& lattice, Routes by_dimension) {
  if (in.topology.switches() > kMostWithOtherTies || !is_damaged(lattice, in.topology)) return by_dimension;
  auto shortest = by_shortest_paths(in);
  if (!shortest) return by_dimension;
  const bool less = lacks_entries(in, by_dimension) ||
                    most_loaded_cable(in, *shortest) < most_loaded_cable(in, by_dimension);
  return less ? *std::move(shortest) : by_dimension;
}

std::expected<Routes, RouteError> run_dor(const EngineInput& in) {
  const auto& context = in.context;
  if (context.topology.switches() == 0) return Routes{};
  // One switch is a lattice of any dimensions.
  const auto lattice = context.topology.switches() == 1
                           ? std::optional(Lattice{.dimensions = 1, .coordinates = {0}})
                           : find_lattice(context.topology);
  if (!lattice) {
    auto routes = by_shortest_paths(context);
    if (context.stop.stop_requested()) return std::unexpected(RouteError{});
    if (!routes) return std::unexpected(RouteError{RouteError::Cause::not_a_lattice, {}});
    return *std::move(routes);
  }
  auto routes = or_shortest_paths(context, *lattice, {DimensionOrder(in, *lattice).run(), {}});
  if (context.stop.stop_requested()) return std::unexpected(RouteError{});
  return routes;
}

}  // namespace

extern const EngineInfo kDor{.name = "dor",
                             .summary = "dimension order on meshes, hypercubes, HyperX and tori, with one VL",
                             .run = run_dor,
                             .leaves_gaps = true};

}  // namespace smd::routing::inline engines
