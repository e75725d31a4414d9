// SPDX-License-Identifier: Apache-2.0
// The rule of OpenSM's engine torus-2QoS, as torus-2QoS(8) describes it: dimension order, an SL with a bit
// for each dateline that a path crosses, VLs by the dimensions of ports. The datelines are those of Dally and
// Seitz, "Deadlock-Free Message Routing in Multiprocessor Interconnection Networks", 1987.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "routing/engines/engine.h"
#include "routing/engines/torus_grid.h"

namespace smd::routing::inline engines {
namespace {

/// A port to which tables lead, and its LIDs.
struct TorusTarget {
  LidRange lids;
  PortNum port;
  bool own = false;  ///< the switch itself
};

class TorusTables {
 public:
  TorusTables(const EngineInput& in, const TorusGrid& grid)
      : in_(in), topology_(in.context.topology), grid_(grid), targets_(topology_.switches()) {
    for (SwitchIndex s = 0; s < topology_.switches(); ++s) find_targets(s);
  }

  std::expected<Routes, RouteError> run() {
    const auto n = topology_.switches();
    std::vector<std::shared_ptr<LftRow>> rows(n);
    std::vector<std::optional<SwitchIndex>> without(n);  // by switch one that it has no path to
    in_.context.parallel.for_each(n, [&](std::size_t i) {
      const auto s = static_cast<SwitchIndex>(i);
      rows[s] = std::make_shared<LftRow>(in_.context.lids.row_size(), kNoRoute);
      if (!in_.context.stop.stop_requested()) without[s] = fill(s, *rows[s]);
    });
    if (in_.context.stop.stop_requested()) return std::unexpected(RouteError{});
    for (SwitchIndex s = 0; s < n; ++s) {
      if (const auto to = without[s])
        return std::unexpected(
            RouteError{RouteError::Cause::torus_in_pieces, {topology_.guid(s), topology_.guid(*to)}});
    }
    Layers layers{.count = 1, .by_lid = {}, .by_pair = PairLayers(n), .vls = vls()};
    for (SwitchIndex a = 0; a < n; ++a) {
      for (SwitchIndex b = 0; b < a; ++b) layers.by_pair.set(a, b, grid_.datelines(a, b));
    }
    layers.count = layers.by_pair.highest() + 1;
    if (layers.count > in_.sl_budget)
      return std::unexpected(RouteError{RouteError::Cause::too_few_sls, {}, in_.sl_budget});
    return Routes{{rows.begin(), rows.end()}, std::move(layers)};
  }

 private:
  /// In the order in which parallel cables take turns: as configured, then by port.
  void find_targets(SwitchIndex s) {
    auto& targets = targets_[s];
    targets.push_back({in_.context.lids.of_switch(s), PortNum{0}, true});
    const auto ends = topology_.end_ports_of(s);
    for (EndIndex i = 0; i < ends.size(); ++i)
      targets.push_back({in_.context.lids.of_end(topology_.first_end(s) + i), ends[i].port, false});
    if (!in_.options.torus) return;
    const auto& order = in_.options.torus->port_order;
    std::ranges::sort(targets, {}, [&](const TorusTarget& to) {
      return std::pair(std::ranges::find(order, to.port) - order.begin(), to.port);
    });
  }

  /// The row of `s`; a switch that it has no path to, where there is one.
  std::optional<SwitchIndex> fill(SwitchIndex s, LftRow& row) const {
    std::array<std::array<std::size_t, 2>, 2 * kTorusDimensions> turns{};
    for (const auto to : grid_.in_order()) {
      const auto way = to != s ? grid_.next(s, to) : std::nullopt;
      if (to != s && !way) return to;
      for (const auto& target : targets_[to]) {
        if (target.lids.count() == 0) continue;
        auto port = target.port;
        if (way) {
          const auto& ports = grid_.ports(s, *way);
          port = ports[turns[way->index()][target.own ? 0 : 1]++ % ports.size()];
        }
        for (std::uint32_t i = 0; i < target.lids.count(); ++i)
          row[target.lids.base.value() + i] = port.value();
      }
    }
    return std::nullopt;
  }

  VlMap vls() const {
    std::vector<std::vector<std::uint8_t>> dimensions(topology_.switches());
    for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
      dimensions[s].assign(topology_.ports(s) + std::size_t{1}, VlMap::kNoDimension);
      for (std::uint8_t d = 0; d < kTorusDimensions; ++d) {
        for (const bool up : {false, true}) {
          for (const auto port : grid_.ports(s, {d, up})) dimensions[s][port.value()] = d;
        }
      }
    }
    const bool with_turns = in_.vl_budget >= VlMap::kWithTurns;
    return {with_turns ? VlMap::kWithTurns : VlMap::kWithoutTurns, std::move(dimensions)};
  }

  const EngineInput& in_;
  const Topology& topology_;
  const TorusGrid& grid_;
  std::vector<std::vector<TorusTarget>> targets_;  ///< by switch
};

/// The places of `topology` by those of a wider fabric.
TorusPlaces places_in(const Topology& topology, const Topology& wider, TorusPlaces places) {
  std::vector<std::optional<TorusPlace>> here;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    const auto there = wider.find(topology.guid(s));
    here.push_back(there != kNoSwitch ? places.of_switch[there] : std::nullopt);
  }
  places.of_switch = std::move(here);
  return places;
}

/// By all the cabling that was seen, so that a switch that is missing now moves no dateline; where that is no
/// torus, because cables have moved, by what there is.
std::expected<TorusPlaces, RouteError> torus_places(const EngineInput& in) {
  const auto& topology = in.context.topology;
  const auto* conf = in.options.torus ? &*in.options.torus : nullptr;
  if (in.widest != nullptr) {
    if (auto places = find_torus_places(*in.widest, conf))
      return places_in(topology, *in.widest, *std::move(places));
  }
  return find_torus_places(topology, conf);
}

std::expected<Routes, RouteError> run_torus_2qos(const EngineInput& in) {
  const auto& topology = in.context.topology;
  if (topology.switches() == 0) return Routes{};
  if (in.vl_budget < VlMap::kWithoutTurns)
    return std::unexpected(RouteError{RouteError::Cause::too_few_vls, {}, in.vl_budget});
  const auto places = torus_places(in);
  if (!places) return std::unexpected(places.error());
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    if (places->of_switch[s]) continue;
    if (!in.options.torus) return std::unexpected(RouteError{RouteError::Cause::not_a_torus, {}});
    return std::unexpected(RouteError{RouteError::Cause::other_torus, {topology.guid(s)}});
  }
  const TorusGrid grid(topology, *places);
  return TorusTables(in, grid).run();
}

}  // namespace

extern const EngineInfo kTorus2Qos{.name = "torus-2QoS",
                                   .summary = "dimension order on tori and meshes, SLs and VLs as OpenSM's",
                                   .run = run_torus_2qos,
                                   .layered = true,
                                   .by_position = true};

}  // namespace smd::routing::inline engines
