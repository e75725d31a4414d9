// SPDX-License-Identifier: Apache-2.0
#include "routing/update/vl_steps.h"

#include <algorithm>
#include <cstddef>

#include "routing/verify/vl_graph.h"

namespace smd::routing::inline update {
namespace {

using VlSet = std::bitset<kVlsOfChannel>;
constexpr std::size_t kSlNumbers = 16;
constexpr std::uint8_t kDropVl = 15;

/// Which SLs are mapped as after; `moving` as before or as after.
struct Moment {
  SlSet done, moving;
};

/// Paths from some of the switches.
class MixedPaths {
 public:
  MixedPaths(const RoutingContext& in, const VlChange& change, const Moment& now)
      : in_(in), change_(change), now_(now) {}

  void add_from(SwitchIndex from) {
    for (std::size_t value = 1; value < in_.lids.row_size(); ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      const auto to = in_.lids.destination(lid);
      if (to.sw == kNoSwitch || to.sw == from) continue;
      const auto layer = change_.routes.layers.of(from, to.sw, lid);
      const auto sls = layer < change_.sls_of_layer.size() ? change_.sls_of_layer[layer] : SlSet{};
      for (std::size_t sl = 0; sl < kSlNumbers; ++sl) {
        if (sls.test(sl)) walk(from, lid, sl);
      }
    }
  }

  VlGraph graph;

 private:
  void add_vls(VlSet& vls, SwitchIndex s, PortNum in, PortNum out, std::size_t sl) const {
    const auto at = std::size_t{in.value()} * (in_.topology.ports(s) + 1U) + out.value();
    const auto add = [&](const SlToVlMaps& maps) {
      const auto vl = maps[s][at][sl];
      if (vl < kDropVl) vls.set(vl);
    };
    if (!now_.done.test(sl)) add(change_.before);
    if (now_.done.test(sl) || now_.moving.test(sl)) add(change_.after);
  }

  /// Packets begin at the switch itself, or at any of its end ports.
  VlSet first_vls(SwitchIndex s, PortNum out, std::size_t sl) const {
    VlSet vls;
    add_vls(vls, s, PortNum{0}, out, sl);
    for (const auto& end : in_.topology.end_ports_of(s)) add_vls(vls, s, end.port, out, sl);
    return vls;
  }

  void walk(SwitchIndex from, Lid lid, std::size_t sl) {
    const auto to = in_.lids.destination(lid).sw;
    auto s = from;
    PortNum in{0};
    VlSet held;
    std::size_t channel = 0;
    for (std::size_t hops = 0; s != to && hops <= in_.topology.switches(); ++hops) {
      const PortNum out{entry(change_.routes.rows[s].get(), lid)};
      const auto peer = in_.topology.peer(s, out);
      if (peer.sw == kNoSwitch) return;
      VlSet wanted;
      if (hops == 0) {
        wanted = first_vls(s, out, sl);
      } else {
        add_vls(wanted, s, in, out, sl);
      }
      const auto next = in_.topology.channel(s, out);
      add_edges(channel, held, next, wanted);
      held = wanted;
      channel = next;
      s = peer.sw;
      in = peer.port;
    }
  }

  void add_edges(std::size_t from, const VlSet& held, std::size_t to, const VlSet& wanted) {
    for (std::size_t a = 0; a < kVlsOfChannel; ++a) {
      for (std::size_t b = 0; held.test(a) && b < kVlsOfChannel; ++b) {
        if (wanted.test(b))
          graph.add(static_cast<std::uint32_t>(from * kVlsOfChannel + a),
                    static_cast<std::uint32_t>(to * kVlsOfChannel + b));
      }
    }
  }

  const RoutingContext& in_;
  const VlChange& change_;
  const Moment& now_;
};

bool is_free_of_loops(const RoutingContext& in, const VlChange& change, const Moment& now) {
  const auto switches = in.topology.switches();
  const auto grain = std::max<std::size_t>(8, switches / std::max(1U, in.parallel.threads()) + 1);
  std::vector<MixedPaths> pieces((switches + grain - 1) / grain, MixedPaths(in, change, now));
  for_ranges(in.parallel, switches, grain, [&](std::size_t begin, std::size_t end) {
    for (auto s = begin; s < end && !in.stop.stop_requested(); ++s)
      pieces[begin / grain].add_from(static_cast<SwitchIndex>(s));
  });
  VlGraph all;
  for (const auto& piece : pieces) all.merge(piece.graph);
  return all.cycles(in.topology.channels() * kVlsOfChannel).empty();
}

/// SLs that paths may have, and of which a map differs.
SlSet changed_sls(const VlChange& change) {
  SlSet used, changed;
  for (const auto& sls : change.sls_of_layer) used |= sls;
  for (std::size_t s = 0; s < change.before.size(); ++s) {
    for (std::size_t at = 0; at < change.before[s].size(); ++at) {
      for (std::size_t sl = 0; sl < kSlNumbers; ++sl) {
        if (change.before[s][at][sl] != change.after[s][at][sl]) changed.set(sl);
      }
    }
  }
  return changed & used;
}

}  // namespace

VlSteps vl_steps(const RoutingContext& in, const VlChange& change) {
  VlSteps found;
  auto left = changed_sls(change);
  SlSet done;
  while (left.any() && !in.stop.stop_requested()) {
    if (is_free_of_loops(in, change, {.done = done, .moving = left})) {
      found.steps.push_back(left);
      return found;
    }
    SlSet step;
    for (std::size_t i = kSlNumbers; i-- > 0 && left.count() > 1 && step.none();) {
      SlSet one;
      one.set(i);
      if (left.test(i) && is_free_of_loops(in, change, {.done = done, .moving = one})) step = one;
    }
    found.proven = step.any();
    found.steps.push_back(found.proven ? step : left);
    if (!found.proven) return found;
    done |= step;
    left &= ~step;
  }
  return found;
}

}  // namespace smd::routing::inline update
