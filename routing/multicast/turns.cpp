// SPDX-License-Identifier: Apache-2.0
#include "routing/multicast/turns.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "routing/multicast/spanning.h"
#include "routing/multicast/turn_graph.h"
#include "routing/verify/dependencies.h"
#include "routing/verify/egress_sets.h"
#include "routing/verify/path_layers.h"

namespace smd::routing::inline multicast {
namespace {

PortNum port_num(unsigned p) { return PortNum{static_cast<std::uint8_t>(p)}; }

/// The dependencies of the unicast paths of layer 0, and Dependencies::Cycles::order of them.
struct Unicast {
  Dependencies graph;
  std::vector<std::uint32_t> order;
};

/// What verification has found: all of it, and perhaps more. Nothing if it has found nothing of the kind.
std::optional<Unicast> verified_unicast(const RoutingContext& in, const Routes& routes,
                                        const Verification& found) {
  const bool single = layers_in_use(routes.layers) == 1 && !routes.layers.vls.by_port();
  if (!single || !found.waits || !found.order) return std::nullopt;
  std::vector<SwitchIndex> same(in.topology.switches());
  std::iota(same.begin(), same.end(), SwitchIndex{0});
  return Unicast{Dependencies(in.topology, in.topology, same, found.waits->front()), found.order->front()};
}

/// Nothing if they close a cycle by themselves.
std::optional<Unicast> exact_unicast(const RoutingContext& in, const Routes& routes) {
  for (const bool end_to_end : {false, true}) {
    auto graph = first_layer_dependencies(in, routes, end_to_end);
    if (!graph || in.stop.stop_requested()) return std::nullopt;
    auto cycles = graph->cycles();
    if (cycles.count == 0) return Unicast{*std::move(graph), std::move(cycles.order)};
  }
  return std::nullopt;
}

/// A bit for each port.
using PortBits = std::array<std::uint64_t, 4>;

/// Of a switch: the ports that lead to other switches, and of them those that lead down.
struct PortsOf {
  PortBits all{}, down{};
};

std::vector<PortsOf> switch_ports(const Topology& topology, const SwitchRanking& ranking) {
  std::vector<PortsOf> ports(topology.switches());
  for (SwitchIndex s = 0; s < ports.size(); ++s) {
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto group = topology.group(s, g);
      for (const auto port : group.ports) {
        const auto bit = std::uint64_t{1} << port.value() % 64;
        ports[s].all[port.value() / 64] |= bit;
        if (!ranking.up(s, group.peer)) ports[s].down[port.value() / 64] |= bit;
      }
    }
  }
  return ports;
}

/// All turns of up/down paths: after a step up to anywhere but back, after a step down only down.
void add_turns(const Topology& topology, const SwitchRanking& ranking, Dependencies& graph) {
  const auto ports = switch_ports(topology, ranking);
  std::vector<std::uint64_t> rows;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    rows.assign((topology.ports(s) + std::size_t{1}) * PortBits{}.size(), 0);
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto group = topology.group(s, g);
      auto next = ranking.up(s, group.peer) ? ports[group.peer].all : ports[group.peer].down;
      for (const auto port : group.ports) {
        const auto back = topology.peer(s, port).port.value();
        next[back / 64] &= ~(std::uint64_t{1} << back % 64);
      }
      for (const auto port : group.ports)
        std::ranges::copy(next, rows.begin() + static_cast<std::ptrdiff_t>(port.value() * next.size()));
    }
    graph.add(s, rows, PortBits{}.size());
  }
}

void add_turn(const Topology& topology, const VlMap& vls, const McTurn& turn, Dependencies& graph) {
  const auto from = topology.peer(turn.at, turn.in);
  if (!vls.by_port()) return graph.add({from.sw, from.port}, turn.out);
  const auto on = vls_of(topology, vls, turn);
  for (unsigned vl = 0; vl < vls.indexes(); ++vl) {
    if ((on.before >> vl & 1U) != 0) graph.add({from.sw, from.port}, vl, turn.out, on.after);
  }
}

/// The same where VLs depend on ports.
void add_turns_on_vls(const Topology& topology, const VlMap& vls, const SwitchRanking& ranking,
                      Dependencies& graph) {
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    for (unsigned in = 1; in <= topology.ports(s); ++in) {
      const auto from = topology.peer(s, port_num(in)).sw;
      for (unsigned out = 1; out <= topology.ports(s) && from != kNoSwitch && from != s; ++out) {
        const auto to = topology.peer(s, port_num(out)).sw;
        if (to == kNoSwitch || to == s || to == from) continue;
        if (ranking.up(from, s) || !ranking.up(s, to))
          add_turn(topology, vls, {s, port_num(in), port_num(out)}, graph);
      }
    }
  }
}

bool ranking_fits(const Topology& topology, const VlMap& vls, const SwitchRanking& ranking,
                  Dependencies graph) {
  if (vls.by_port()) {
    add_turns_on_vls(topology, vls, ranking, graph);
  } else {
    add_turns(topology, ranking, graph);
  }
  return !graph.any_cycle();
}

bool fits(const Topology& topology, const VlMap& vls, const SpanningTrees& trees, Dependencies graph) {
  for (const auto& turn : turns_of(trees)) add_turn(topology, vls, turn, graph);
  return !graph.any_cycle();
}

/// The plain ones if they fit, which is seen at once, or those that engines leave room for; else those that
/// grow round what does not.
std::optional<SpanningTrees> spanning_trees(const Topology& topology, const VlMap& vls,
                                            const SwitchRanking& ranking, Unicast unicast) {
  if (auto plain = plain_trees(topology, ranking); fits(topology, vls, plain, unicast.graph)) return plain;
  if (auto middle = middle_trees(topology); fits(topology, vls, middle, unicast.graph)) return middle;
  return grow_spanning_trees(
      topology, ranking,
      TurnGraph(topology, vls, std::move(unicast.graph).waits(), std::move(unicast.order)));
}

/// The topology without cables of switches that are not of the trees.
Topology only(const Topology& topology, const SpanningTrees& trees) {
  TopologyInput input;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    input.switches.push_back({topology.guid(s), topology.ports(s)});
    for (const auto port : trees.ports[s]) {
      const auto far = topology.peer(s, port);
      if (s < far.sw) input.links.push_back({s, port, far.sw, far.port});
    }
  }
  for (const auto& end : topology.end_ports()) {
    if (end.sw != kNoSwitch)
      input.end_ports.push_back({end.guid, end.sw, end.port, end.kind, end.node, end.system_image});
  }
  return Topology(input);
}

McProof proof_with(const Topology& topology, const VlMap& vls, const SwitchRanking& ranking, Unicast unicast,
                   bool without_ranking) {
  if (!without_ranking && ranking_fits(topology, vls, ranking, unicast.graph))
    return {.rule = McRule::ranking, .cables = {}, .ranking = {}};
  const auto trees = spanning_trees(topology, vls, ranking, std::move(unicast));
  if (!trees) return {};
  auto cables = only(topology, *trees);
  auto order = rank_from_roots(cables, trees->roots);
  return {.rule = McRule::spanning, .cables = std::move(cables), .ranking = std::move(order)};
}

const PortMask* ports_at(const McTree& tree, SwitchIndex s) {
  const auto found = std::ranges::lower_bound(tree, s, {}, &McMask::sw);
  return found != tree.end() && found->sw == s ? &found->ports : nullptr;
}

/// Packets come into the switch from above by one port and leave upwards by another.
bool turns_up(const Topology& topology, const SwitchRanking& ranking, const McTree& tree,
              const McMask& mask) {
  PortMask in, out;
  for (unsigned p = 1; p <= topology.ports(mask.sw); ++p) {
    const auto far = topology.peer(mask.sw, port_num(p));
    if (far.sw == kNoSwitch || !ranking.up(mask.sw, far.sw)) continue;
    const auto* there = ports_at(tree, far.sw);
    in[p] = there != nullptr && (*there)[far.port.value()];
    out[p] = mask.ports[p];
  }
  // Packets are never sent back to where they came from.
  return in.any() && out.any() && !(in == out && in.count() == 1);
}

}  // namespace

McProof prove_trees(const RoutingContext& in, const Routes& routes, const Verification& found,
                    const SwitchRanking& ranking, bool without_ranking) {
  if (found.credit_loops != 0) return {};
  if (auto unicast = verified_unicast(in, routes, found)) {
    auto proof = proof_with(in.topology, routes.layers.vls, ranking, *std::move(unicast), without_ranking);
    // Of repaired routes verification may know more dependencies than there are.
    if (proof.rule != McRule::none) return proof;
  }
  auto unicast = exact_unicast(in, routes);
  if (!unicast) return {};
  return proof_with(in.topology, routes.layers.vls, ranking, *std::move(unicast), without_ranking);
}

bool keeps_to(const McProof& proof, const Topology& topology, const SwitchRanking& ranking,
              const McTree& tree) {
  const auto outside = [&](const McMask& mask) {
    if (proof.rule == McRule::ranking) return turns_up(topology, ranking, tree, mask);
    for (unsigned p = 1; p <= topology.ports(mask.sw); ++p) {
      if (!mask.ports[p] || topology.peer(mask.sw, port_num(p)).sw == kNoSwitch) continue;
      if (proof.rule == McRule::none || proof.cables.peer(mask.sw, port_num(p)).sw == kNoSwitch) return true;
    }
    return false;
  };
  return std::ranges::none_of(tree, outside);
}

}  // namespace smd::routing::inline multicast
