// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/end_ports.h"

namespace smd::sm::inline sweeping {

Guid port_guid(const Node& node, PortNum port) {
  return node.is_switch() ? node.guid() : node.ports[port.value()].guid;
}

Guid own_port_guid(const Subnet& subnet) {
  const auto* node = subnet.find(subnet.sm_node);
  const bool known = node != nullptr && subnet.sm_port.value() < node->ports.size();
  return known ? port_guid(*node, subnet.sm_port) : Guid{};
}

std::map<Guid, PortPlace> find_end_ports(const Subnet& subnet, const std::set<Guid>& ports) {
  std::map<Guid, PortPlace> found;
  for (std::size_t i = 0; i < subnet.nodes.size() && !ports.empty(); ++i) {
    const auto& node = *subnet.nodes[i];
    for (std::size_t p = 0; p < node.ports.size(); ++p) {
      const PortNum port{static_cast<std::uint8_t>(p)};
      const auto guid = port_guid(node, port);
      if (is_end_port(node, port) && ports.contains(guid)) found.emplace(guid, PortPlace{i, port});
    }
  }
  return found;
}

}  // namespace smd::sm::inline sweeping
