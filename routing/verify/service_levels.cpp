// SPDX-License-Identifier: Apache-2.0
#include "routing/verify/service_levels.h"

#include <algorithm>
#include <bitset>
#include <map>
#include <utility>

#include "routing/verify/vl_graph.h"

namespace smd::routing::inline verify {
namespace {

constexpr std::size_t kVls = kVlsOfChannel;
constexpr std::uint8_t kDropping = 15;

/// Paths of some of the end ports.
class PathsPiece {
 public:
  PathsPiece(const RoutingContext& in, const Routes& routes, const ServiceLevels& levels)
      : in_(in), routes_(routes), levels_(levels) {}

  void add_from(EndIndex end) {
    const auto& from = in_.topology.end_ports()[end];
    if (from.sw == kNoSwitch) return;
    for (std::size_t value = 1; value < in_.lids.row_size(); ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      const auto to = in_.lids.destination(lid);
      if (to.sw == kNoSwitch || to.end == kNoEnd || to.sw == from.sw || !arrives(from, lid)) continue;
      ++found.paths;
      const auto said = sl_of(end, lid);
      const auto sl = said < kVls ? said : std::uint8_t{0};
      if (said >= kVls) ++found.not_said;
      sls.set(sl);
      if (!walk(from, lid, sl, {&own, &both})) ++found.dropped;
      walk(from, lid, 0, {&fixed, nullptr});
      const auto back = in_.lids.of_end(end);
      const auto& other = in_.topology.end_ports()[to.end];
      for (std::uint32_t i = 0; i < back.count(); ++i)
        walk(other, Lid{static_cast<std::uint16_t>(back.base.value() + i)}, sl, {&both, nullptr});
    }
  }

  ServiceLevelCheck found;
  std::bitset<kVls> sls, vls;
  VlGraph own, both, fixed;

 private:
  using Graphs = std::array<VlGraph*, 2>;

  std::uint8_t sl_of(EndIndex end, Lid lid) const {
    if (levels_.path_sl.empty()) return 0;
    const auto& row = levels_.path_sl[end];
    return lid.value() < row.size() ? row[lid.value()] : ServiceLevels::kNotSaid;
  }

  std::uint8_t vl_of(SwitchIndex s, PortNum in, PortNum out, std::uint8_t sl) const {
    if (levels_.sl_to_vl.empty()) return levels_.elsewhere[sl];
    const auto& maps = levels_.sl_to_vl[s];
    const auto at = std::size_t{in.value()} * (in_.topology.ports(s) + 1U) + out.value();
    return at < maps.size() ? maps[at][sl] : std::uint8_t{0};
  }

  bool arrives(const EndPort& from, Lid lid) const {
    const auto to = in_.lids.destination(lid);
    auto s = from.sw;
    for (std::size_t hops = 0; s != to.sw; ++hops) {
      s = in_.topology.peer(s, PortNum{entry(routes_.rows[s].get(), lid)}).sw;
      if (s == kNoSwitch || hops > in_.topology.switches()) return false;
    }
    return entry(routes_.rows[s].get(), lid) == to.port.value();
  }

  /// False where a hop drops the packets; the path is followed on all the same.
  bool walk(const EndPort& from, Lid lid, std::uint8_t sl, const Graphs& graphs) {
    const auto to = in_.lids.destination(lid).sw;
    auto s = from.sw;
    auto port = from.port;
    bool passes = true, any = false;
    std::uint32_t held = 0;
    for (std::size_t hops = 0; s != to && hops <= in_.topology.switches(); ++hops) {
      const PortNum out{entry(routes_.rows[s].get(), lid)};
      const auto peer = in_.topology.peer(s, out);
      if (peer.sw == kNoSwitch) return passes;
      const auto vl = vl_of(s, port, out, sl);
      vls.set(vl);
      passes = passes && vl != kDropping;
      const auto wanted = static_cast<std::uint32_t>(in_.topology.channel(s, out) * kVls + vl);
      for (auto* graph : graphs) {
        if (graph != nullptr && any) graph->add(held, wanted);
      }
      held = wanted;
      any = true;
      s = peer.sw;
      port = peer.port;
    }
    return passes;
  }

  const RoutingContext& in_;
  const Routes& routes_;
  const ServiceLevels& levels_;
};

std::vector<Hop> hops_of(const Topology& topology, const std::vector<std::size_t>& group) {
  std::map<std::size_t, Hop> channels;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    for (unsigned p = 0; p <= topology.ports(s); ++p) {
      const PortNum out{static_cast<std::uint8_t>(p)};
      channels[topology.channel(s, out)] = {s, out, Lid{}};
    }
  }
  std::vector<Hop> hops;
  for (const auto node : group) hops.push_back(channels[node / kVls]);
  return hops;
}

}  // namespace

ServiceLevelCheck check_service_levels(const RoutingContext& in, const Routes& routes,
                                       const ServiceLevels& levels) {
  const auto ends = in.topology.end_ports().size();
  const auto grain = std::max<std::size_t>(16, ends / std::max(1U, in.parallel.threads()) + 1);
  std::vector<PathsPiece> pieces((ends + grain - 1) / grain, PathsPiece(in, routes, levels));
  for_ranges(in.parallel, ends, grain, [&](std::size_t begin, std::size_t end) {
    for (auto e = begin; e < end && !in.stop.stop_requested(); ++e)
      pieces[begin / grain].add_from(static_cast<EndIndex>(e));
  });
  PathsPiece all(in, routes, levels);
  for (const auto& piece : pieces) {
    all.found.paths += piece.found.paths;
    all.found.not_said += piece.found.not_said;
    all.found.dropped += piece.found.dropped;
    all.sls |= piece.sls;
    all.vls |= piece.vls;
    all.own.merge(piece.own);
    all.both.merge(piece.both);
    all.fixed.merge(piece.fixed);
  }
  auto found = std::move(all.found);
  const auto nodes = in.topology.channels() * kVls;
  const auto both = all.both.cycles(nodes);
  found.credit_loops = all.own.cycles(nodes).size();
  found.reverse_loops = both.size();
  found.fixed_loops = all.fixed.cycles(nodes).size();
  found.sls = static_cast<unsigned>(std::max<std::size_t>(1, all.sls.count()));
  found.vls = static_cast<unsigned>(std::max<std::size_t>(1, all.vls.count()));
  if (!both.empty()) found.example = hops_of(in.topology, both.front());
  return found;
}

}  // namespace smd::routing::inline verify
