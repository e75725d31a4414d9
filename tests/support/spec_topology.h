// SPDX-License-Identifier: Apache-2.0
#pragma once
// Fabrics of specs as the input of routing, with the rates of their ports.

#include <map>
#include <string>
#include <vector>

#include "mad/base/fabric_spec.h"
#include "routing/cabling/health.h"
#include "routing/topology/input.h"

namespace smd::routing::fabrics {

struct SpecFabric {
  TopologyInput input;
  std::map<PortName, PortRate> rates;  ///< of linked switch ports
  std::map<Guid, std::string> names;
};

/// Aggregation nodes by their name, all other CAs compute; nodes in the order of the fabric.
inline SpecFabric of_fabric(const base::Fabric& fabric) {
  SpecFabric result;
  std::vector<SwitchIndex> index(fabric.nodes.size(), kNoSwitch);
  for (base::NodeIndex i = 0; i < fabric.nodes.size(); ++i) {
    const auto& node = fabric.nodes[i];
    result.names[node.guid] = node.name;
    if (node.type != NodeType::switch_) continue;
    index[i] = static_cast<SwitchIndex>(result.input.switches.size());
    result.input.switches.push_back({node.guid, node.port_count()});
  }
  for (base::NodeIndex i = 0; i < fabric.nodes.size(); ++i) {
    const auto& node = fabric.nodes[i];
    for (unsigned p = 1; p <= node.port_count(); ++p) {
      const PortNum port{static_cast<std::uint8_t>(p)};
      const auto& peer = node.ports[p].peer;
      if (!peer) continue;
      const auto far = index[peer->node];
      if (index[i] == kNoSwitch) {
        const bool aggregates = node.name.find("Aggregation Node") != std::string::npos;
        const auto kind = aggregates ? EndKind::aggregation : EndKind::compute;
        result.input.end_ports.push_back(
            {base::port_guid(node, port), far, peer->port, kind, node.guid, node.system_image});
        continue;
      }
      result.rates[{node.guid, port}] = {node.ports[p].rate.width, node.ports[p].rate.speed};
      if (far != kNoSwitch && std::pair(i, port) < std::pair(peer->node, peer->port))
        result.input.links.push_back({index[i], port, far, peer->port});
    }
  }
  return result;
}

/// The spec must be right.
inline SpecFabric of_spec(const std::string& spec) { return of_fabric(*base::make_fabric(spec)); }

inline Health examined(const SpecFabric& fabric) {
  const Topology topology(fabric.input);
  return check_cabling({.topology = topology,
                        .rate =
                            [&](PortName port) {
                              const auto at = fabric.rates.find(port);
                              return at == fabric.rates.end() ? PortRate{} : at->second;
                            },
                        .name = [&](Guid guid) { return fabric.names.at(guid); }});
}

}  // namespace smd::routing::fabrics
