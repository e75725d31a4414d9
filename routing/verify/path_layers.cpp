// SPDX-License-Identifier: Apache-2.0
#include "routing/verify/path_layers.h"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "routing/verify/dependencies.h"
#include "routing/verify/proof.h"
#include "routing/verify/trace_all.h"

namespace smd::routing::inline verify {
namespace {

using LayerBits = std::uint64_t;
constexpr unsigned kMostLayers = 64;
using Graphs = std::vector<Dependencies>;  ///< one a layer

/// The layers of the paths to one LID: a bit each, at every switch that such a path crosses.
class PathsToLid {
 public:
  PathsToLid(const RoutingContext& in, const Routes& routes, WayBack way_back, bool end_to_end)
      : in_(in),
        routes_(routes),
        end_to_end_(end_to_end),
        next_(in.topology.switches()),
        ports_(in.topology.switches()),
        last_ports_(in.topology.switches()),
        arriving_(in.topology.switches()),
        layers_(in.topology.switches()) {
    if (way_back == WayBack::same_layer && routes.layers.by_pair.empty()) find_layers_back();
  }

  /// False if there is nothing new: no such LID, or the paths of the LID before with the same layers.
  bool load(Lid lid) {
    const auto to = in_.lids.destination(lid);
    if (to.sw == kNoSwitch || (end_to_end_ && to.end == kNoEnd)) return false;
    const auto n = static_cast<SwitchIndex>(next_.size());
    std::swap(ports_, last_ports_);
    for (SwitchIndex s = 0; s < n; ++s) ports_[s] = s == to.sw ? kNoRoute : entry(routes_.rows[s].get(), lid);
    const auto layer = routes_.layers.to(lid);
    if (to.sw == last_switch_ && layer == last_layer_ && ports_ == last_ports_) return false;
    last_switch_ = to.sw;
    last_layer_ = layer;
    std::ranges::fill(arriving_, 0U);
    for (SwitchIndex s = 0; s < n; ++s) {
      next_[s] = in_.topology.peer(s, PortNum{ports_[s]}).sw;
      if (next_[s] != kNoSwitch) ++arriving_[next_[s]];
      const bool source = s != to.sw && (!end_to_end_ || !in_.topology.end_ports_of(s).empty());
      layers_[s] = source ? layers_from(s, to.sw, lid) : 0;
    }
    flow();
    return true;
  }

  void add_to(Graphs& graphs) const {
    for (SwitchIndex s = 0; s < next_.size(); ++s) {
      const auto peer = next_[s];
      if (peer == kNoSwitch || next_[peer] == kNoSwitch) continue;
      for (auto bits = layers_[s]; bits != 0; bits &= bits - 1) {
        graphs[static_cast<std::size_t>(std::countr_zero(bits))].add({s, PortNum{ports_[s]}},
                                                                     PortNum{ports_[peer]});
      }
    }
  }

  /// Whether a path of the layer leaves `s` by `out`.
  bool uses(SwitchIndex s, PortNum out, unsigned layer) const {
    return ports_[s] == out.value() && next_[s] != kNoSwitch && ((layers_[s] >> layer) & 1U) != 0;
  }

 private:
  static LayerBits bit(unsigned layer) { return LayerBits{1} << layer; }

  LayerBits layers_from(SwitchIndex s, SwitchIndex to, Lid lid) const {
    const auto own = bit(routes_.layers.of(s, to, lid));
    return back_.empty() ? own : own | back_[s];
  }

  /// By switch the layers of the paths to its own LIDs.
  void find_layers_back() {
    back_.assign(next_.size(), 0);
    for (std::size_t value = 1; value < in_.lids.row_size(); ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      const auto to = in_.lids.destination(lid);
      if (to.sw == kNoSwitch || (end_to_end_ && to.end == kNoEnd)) continue;
      back_[to.sw] |= bit(routes_.layers.to(lid));
    }
  }

  /// Hands the layers of each path on, from switches that no path enters to the end.
  void flow() {
    idle_.clear();
    for (SwitchIndex s = 0; s < next_.size(); ++s) {
      if (arriving_[s] == 0) idle_.push_back(s);
    }
    for (std::size_t at = 0; at < idle_.size(); ++at) {
      const auto s = idle_[at], peer = next_[s];
      if (peer == kNoSwitch) continue;
      layers_[peer] |= layers_[s];
      if (--arriving_[peer] == 0) idle_.push_back(peer);
    }
  }

  const RoutingContext& in_;
  const Routes& routes_;
  bool end_to_end_;
  std::vector<SwitchIndex> next_;
  std::vector<std::uint8_t> ports_, last_ports_;
  SwitchIndex last_switch_ = kNoSwitch;
  unsigned last_layer_ = 0;
  std::vector<std::uint32_t> arriving_;
  std::vector<SwitchIndex> idle_;
  std::vector<LayerBits> layers_, back_;
};

/// For each channel of a cycle a LID with a path of the layer that leaves by it and then by the next one.
std::vector<Hop> with_lids(const RoutingContext& in, const PathsToLid& fresh, unsigned layer,
                           const std::vector<Dependencies::Channel>& cycle) {
  std::vector<Hop> hops;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const auto& first = cycle[i];
    const auto& second = cycle[(i + 1) % cycle.size()];
    Hop hop{first.sw, first.out, Lid{}};
    auto paths = fresh;
    for (std::size_t value = 1; value < in.lids.row_size() && hop.lid == Lid{}; ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      if (paths.load(lid) && paths.uses(first.sw, first.out, layer) &&
          paths.uses(second.sw, second.out, layer))
        hop.lid = lid;
    }
    hops.push_back(hop);
  }
  return hops;
}

}  // namespace

LayerCycles find_layer_cycles(const RoutingContext& in, const Routes& routes, WayBack way_back,
                              bool end_to_end) {
  const auto layers = layers_in_use(routes.layers);
  if (layers > kMostLayers) return {.count = 1, .example = {}};
  const auto size = in.lids.row_size();
  const auto grain = std::max<std::size_t>(64, size / std::max(1U, in.parallel.threads()) + 1);
  std::vector<Graphs> pieces((size + grain - 1) / grain);
  for_ranges(in.parallel, size, grain, [&](std::size_t begin, std::size_t end) {
    auto& graphs = pieces[begin / grain];
    graphs.assign(layers, Dependencies(in.topology));
    PathsToLid paths(in, routes, way_back, end_to_end);
    for (auto value = begin; value < end && !in.stop.stop_requested(); ++value) {
      if (paths.load(Lid{static_cast<std::uint16_t>(value)})) paths.add_to(graphs);
    }
  });
  LayerCycles found;
  for (unsigned layer = 0; layer < layers; ++layer) {
    auto& graph = pieces.front()[layer];
    for (std::size_t i = 1; i < pieces.size(); ++i) graph.merge(pieces[i][layer]);
    const auto cycles = graph.cycles();
    found.count += cycles.count;
    if (cycles.count == 0 || !found.example.empty()) continue;
    found.example = with_lids(in, PathsToLid(in, routes, way_back, end_to_end), layer, cycles.example);
  }
  return found;
}

Verification verify_path_layers(const RoutingContext& in, const Routes& routes) {
  // Who reaches whom is the same on every layer. What one layer for all would close is a figure of its own.
  const Routes one_layer{routes.rows, {}};
  auto proven = prove(in, one_layer);
  auto found = proven ? *std::move(proven) : trace_all(in, one_layer);
  found.fixed_sl_ok = found.credit_loops == 0;
  found.vls = found.layers = layers_in_use(routes.layers);
  found.order = nullptr;
  found.waits = nullptr;
  found.credit_loop_example.clear();
  found.credit_loops = found.management_credit_loops = 0;
  auto all = find_layer_cycles(in, routes, WayBack::same_layer, false);
  if (all.count == 0) return found;
  auto end_to_end = find_layer_cycles(in, routes, WayBack::same_layer, true);
  found.credit_loops = end_to_end.count;
  if (end_to_end.count == 0) found.management_credit_loops = all.count;
  found.credit_loop_example = std::move(end_to_end.count != 0 ? end_to_end.example : all.example);
  found.reverse_ok = found.credit_loops == 0;
  return found;
}

}  // namespace smd::routing::inline verify
