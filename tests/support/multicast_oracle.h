// SPDX-License-Identifier: Apache-2.0
#pragma once
// Slow and simple: what waits for what, of multicast packets and unicast paths of layer 0 together.

#include <set>
#include <span>
#include <utility>
#include <vector>

#include "routing/multicast/tree.h"
#include "tests/support/routing_layer_oracle.h"

namespace smd::routing::oracle {

/// A channel with its VL, as on_vls() numbers it.
inline Channel on_layer_0(const Layers& layers, SwitchIndex s, PortNum in, PortNum out) {
  return {s, out.value() + 256U * layers.vls.vl(s, in, out, 0)};
}

/// Follows the packet of one sender through the masks, branch by branch: the channel by which it came into a
/// switch waits for those of all branches.
inline void add_packet(const Topology& topology, const Layers& layers, const McTree& tree,
                       const McMember& sender, Edges& edges) {
  struct Copy {
    SwitchIndex sw = 0;
    PortNum in;
    Channel held;
    bool holds = false;
  };
  std::vector<Copy> open{{sender.sw, sender.port, {}, false}};
  std::set<std::pair<SwitchIndex, unsigned>> entered;
  while (!open.empty()) {
    const auto copy = open.back();
    open.pop_back();
    if (!entered.emplace(copy.sw, copy.in.value()).second) continue;
    for (const auto& mask : tree) {
      if (mask.sw != copy.sw) continue;
      for (unsigned p = 1; p <= topology.ports(mask.sw); ++p) {
        const PortNum out{static_cast<std::uint8_t>(p)};
        const auto far = topology.peer(mask.sw, out);
        if (!mask.ports[p] || out == copy.in || far.sw == kNoSwitch) continue;
        const auto channel = on_layer_0(layers, mask.sw, copy.in, out);
        if (copy.holds) edges[copy.held].insert(channel);
        open.push_back({far.sw, far.port, channel, true});
      }
    }
  }
}

/// Of the unicast paths on layer 0, and of those that share VLs with it: from all switches, or from switches
/// with end ports to LIDs of end ports.
inline Edges unicast_edges(const Topology& topology, const LidMap& lids, const Routes& routes,
                           bool end_to_end) {
  Edges edges;
  for (std::uint32_t value = 1; value <= lids.top().value(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    const auto to = lids.destination(lid);
    if (to.sw == kNoSwitch || (end_to_end && to.end == kNoEnd)) continue;
    for (SwitchIndex s = 0; s < topology.switches(); ++s) {
      if (s == to.sw || (end_to_end && topology.end_ports_of(s).empty())) continue;
      const auto layer = routes.layers.of(s, to.sw, lid);
      if (layer != 0 && !routes.layers.vls.by_port()) continue;
      add_edges(on_vls(topology, routes.layers, travel(topology, lids, routes, s, lid), layer), edges);
    }
  }
  return edges;
}

/// A tree with its members.
using McGroup = std::pair<McTree, std::vector<McMember>>;

/// Whether unicast paths between end ports and packets of all senders of all groups close a cycle.
inline bool multicast_cycle(const Topology& topology, const LidMap& lids, const Routes& routes,
                            std::span<const McGroup> groups) {
  auto edges = unicast_edges(topology, lids, routes, true);
  for (const auto& [tree, members] : groups) {
    for (const auto& sender : members) add_packet(topology, routes.layers, tree, sender, edges);
  }
  return has_cycle(std::move(edges));
}

}  // namespace smd::routing::oracle
