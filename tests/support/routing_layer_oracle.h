// SPDX-License-Identifier: Apache-2.0
#pragma once
// Slow and simple verification of paths in several layers, to compare the fast one with.

#include <map>
#include <vector>

#include "tests/support/routing_oracle.h"

namespace smd::routing::oracle {

/// What waits for what: each path, and the path back, hop by hop on the VLs of the layer of the path.
struct LayeredFound {
  bool credit_loop = false;      ///< of traffic between end ports
  bool any_credit_loop = false;  ///< of traffic between all switches
  bool fixed_loop = false;       ///< of traffic between end ports if all of it is in layer 0
};

/// The trip on the VLs of a layer's hops: as channels of which each VL is one.
inline Trip on_vls(const Topology& topology, const Layers& layers, Trip trip, unsigned layer) {
  PortNum in{0};
  for (auto& [sw, out] : trip.channels) {
    const PortNum port{static_cast<std::uint8_t>(out)};
    out += 256 * layers.vls.vl(sw, in, port, layer);
    in = topology.peer(sw, port).port;
  }
  return trip;
}

inline LayeredFound verify_layers(const Topology& topology, const LidMap& lids, const Routes& routes) {
  std::vector<std::vector<Lid>> own(topology.switches());
  for (std::uint32_t value = 1; value <= lids.top().value(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    if (lids.destination(lid).sw != kNoSwitch) own[lids.destination(lid).sw].push_back(lid);
  }
  Edges all, end_to_end;
  Edges fixed;
  for (SwitchIndex a = 0; a < topology.switches(); ++a) {
    for (SwitchIndex b = 0; b < topology.switches(); ++b) {
      if (a == b) continue;
      for (const auto lid : own[b]) {
        const auto trip = travel(topology, lids, routes, a, lid);
        const bool ends = lids.destination(lid).end != kNoEnd && !topology.end_ports_of(a).empty();
        if (ends) add_edges(trip, fixed);
        std::set<unsigned> layers{routes.layers.of(a, b, lid)};
        for (const auto back : own[a]) layers.insert(routes.layers.of(b, a, back));
        for (const auto layer : layers) {
          const auto ridden = on_vls(topology, routes.layers, trip, layer);
          add_edges(ridden, all);
          if (ends) add_edges(ridden, end_to_end);
        }
      }
    }
  }
  return {.credit_loop = has_cycle(std::move(end_to_end)),
          .any_credit_loop = has_cycle(std::move(all)),
          .fixed_loop = has_cycle(std::move(fixed))};
}

}  // namespace smd::routing::oracle
