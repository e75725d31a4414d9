// SPDX-License-Identifier: Apache-2.0
#include "routing/verify/path_layers.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "routing/verify/dependencies.h"
#include "routing/verify/proof.h"
#include "routing/verify/trace_all.h"

namespace smd::routing::inline verify {
namespace {

/// A bit for each layer or, where VLs depend on ports, for each layer and VL: layer * VLs + VL.
using LayerBits = std::uint64_t;
constexpr unsigned kMostBits = 64;
/// One for each of the lowest layers; where VLs depend on ports one for all, whose channels are VLs.
using Graphs = std::vector<Dependencies>;

template <class Fn>
void for_each_bit(LayerBits bits, const Fn& fn) {
  for (; bits != 0; bits &= bits - 1) fn(static_cast<unsigned>(std::countr_zero(bits)));
}

/// The layers of the paths to one LID, with the VL of the hop: at every switch that such a path crosses.
class PathsToLid {
 public:
  PathsToLid(const RoutingContext& in, const Routes& routes, WayBack way_back, bool end_to_end)
      : in_(in),
        routes_(routes),
        by_port_(routes.layers.vls.by_port()),
        vls_(by_port_ ? routes.layers.vls.indexes() : 1U),
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
      layers_[s] = source && next_[s] != kNoSwitch ? begun(s, layers_from(s, to.sw, lid)) : 0;
    }
    flow();
    return true;
  }

  void add_to(Graphs& graphs) const {
    for (SwitchIndex s = 0; s < next_.size(); ++s) {
      const auto peer = next_[s];
      if (peer == kNoSwitch || next_[peer] == kNoSwitch) continue;
      for_each_bit(layers_[s], [&](unsigned bit) {
        const PortNum out{ports_[s]}, then{ports_[peer]};
        if (!by_port_ && bit >= graphs.size()) return;
        if (!by_port_) return graphs[bit].add({s, out}, then);
        graphs.front().add({s, out}, bit % vls_, then, after(s, bit) % vls_);
      });
    }
  }

  /// Whether a path (of the layer) leaves `first` by its port and VL, and the next switch by those of
  /// `second`.
  bool waits(const Dependencies::Channel& first, unsigned vl, const Dependencies::Channel& second,
             unsigned next_vl, unsigned layer) const {
    const auto s = first.sw;
    if (ports_[s] != first.out.value() || next_[s] != second.sw || ports_[second.sw] != second.out.value() ||
        next_[second.sw] == kNoSwitch)
      return false;
    if (!by_port_) return ((layers_[s] & layers_[second.sw]) >> layer & 1U) != 0;
    bool found = false;
    for_each_bit(layers_[s], [&](unsigned bit) {
      found = found || (bit % vls_ == vl && after(s, bit) % vls_ == next_vl);
    });
    return found;
  }

 private:
  static LayerBits bit(unsigned layer) { return LayerBits{1} << layer; }

  /// The bit number of a path that leaves `s` after it came in by `in`.
  unsigned on_vl(SwitchIndex s, PortNum in, unsigned layer) const {
    return layer * vls_ + routes_.layers.vls.vl(s, in, PortNum{ports_[s]}, layer);
  }

  /// Of the paths of these layers that begin at `s`.
  LayerBits begun(SwitchIndex s, LayerBits layers) const {
    if (!by_port_) return layers;
    LayerBits bits = 0;
    for_each_bit(layers, [&](unsigned layer) { bits |= bit(on_vl(s, PortNum{0}, layer)); });
    return bits;
  }

  /// The bit number at the next switch of a path that leaves `s` with `held`; its end is elsewhere.
  unsigned after(SwitchIndex s, unsigned held) const {
    return on_vl(next_[s], in_.topology.peer(s, PortNum{ports_[s]}).port, held / vls_);
  }

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
      if (!by_port_) {
        layers_[peer] |= layers_[s];
      } else if (next_[peer] != kNoSwitch) {
        for_each_bit(layers_[s], [&](unsigned held) { layers_[peer] |= bit(after(s, held)); });
      }
      if (--arriving_[peer] == 0) idle_.push_back(peer);
    }
  }

  const RoutingContext& in_;
  const Routes& routes_;
  bool by_port_;
  unsigned vls_;  ///< 1 where those of a layer are its own
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
                           const Dependencies::Cycles& cycles) {
  const auto& cycle = cycles.example;
  std::vector<Hop> hops;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const auto next = (i + 1) % cycle.size();
    const auto& first = cycle[i];
    Hop hop{first.sw, first.out, Lid{}};
    auto paths = fresh;
    for (std::size_t value = 1; value < in.lids.row_size() && hop.lid == Lid{}; ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      if (paths.load(lid) && paths.waits(first, cycles.vls[i], cycle[next], cycles.vls[next], layer))
        hop.lid = lid;
    }
    hops.push_back(hop);
  }
  return hops;
}

bool too_many(const Layers& layers) {
  const auto vls = layers.vls.by_port() ? layers.vls.indexes() : 1U;
  return layers_in_use(layers) * vls > kMostBits;
}

/// `count`: graphs of the lowest layers, or 1.
Graphs layer_graphs(const RoutingContext& in, const Routes& routes, WayBack way_back, bool end_to_end,
                    unsigned count) {
  const auto vls = routes.layers.vls.by_port() ? routes.layers.vls.indexes() : 1U;
  const auto size = in.lids.row_size();
  const auto grain = std::max<std::size_t>(64, size / std::max(1U, in.parallel.threads()) + 1);
  std::vector<Graphs> pieces((size + grain - 1) / grain);
  for_ranges(in.parallel, size, grain, [&](std::size_t begin, std::size_t end) {
    auto& graphs = pieces[begin / grain];
    graphs.assign(count, Dependencies(in.topology, vls));
    PathsToLid paths(in, routes, way_back, end_to_end);
    for (auto value = begin; value < end && !in.stop.stop_requested(); ++value) {
      if (paths.load(Lid{static_cast<std::uint16_t>(value)})) paths.add_to(graphs);
    }
  });
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    for (unsigned layer = 0; layer < count; ++layer) pieces.front()[layer].merge(pieces[i][layer]);
  }
  return std::move(pieces.front());
}

}  // namespace

LayerCycles find_layer_cycles(const RoutingContext& in, const Routes& routes, WayBack way_back,
                              bool end_to_end) {
  if (too_many(routes.layers)) return {.count = 1, .example = {}};
  const auto count = routes.layers.vls.by_port() ? 1U : layers_in_use(routes.layers);
  const auto graphs = layer_graphs(in, routes, way_back, end_to_end, count);
  LayerCycles found;
  for (unsigned layer = 0; layer < graphs.size(); ++layer) {
    const auto cycles = graphs[layer].cycles();
    found.count += cycles.count;
    if (cycles.count == 0 || !found.example.empty()) continue;
    found.example = with_lids(in, PathsToLid(in, routes, way_back, end_to_end), layer, cycles);
  }
  return found;
}

std::optional<Dependencies> first_layer_dependencies(const RoutingContext& in, const Routes& routes,
                                                     bool end_to_end) {
  if (too_many(routes.layers)) return std::nullopt;
  return std::move(layer_graphs(in, routes, WayBack::same_layer, end_to_end, 1).front());
}

Verification verify_path_layers(const RoutingContext& in, const Routes& routes) {
  // Who reaches whom is the same on every layer. What one layer for all would close is a figure of its own.
  const Routes one_layer{routes.rows, {}};
  auto proven = prove(in, one_layer);
  auto found = proven ? *std::move(proven) : trace_all(in, one_layer);
  found.fixed_sl_ok = found.credit_loops == 0;
  found.layers = layers_in_use(routes.layers);
  found.vls = routes.layers.vls.by_port() ? routes.layers.vls.indexes() : found.layers;
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
