// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/end_ports.h"

namespace smd::sm::inline sweeping {

std::map<Guid, PortPlace> find_end_ports(const Subnet& subnet, const std::set<Guid>& ports) {
  std::map<Guid, PortPlace> found;
  for (std::size_t i = 0; i < subnet.nodes.size() && !ports.empty(); ++i) {
    const auto& node = *subnet.nodes[i];
    for (std::size_t p = 0; p < node.ports.size(); ++p) {
      const PortNum port{static_cast<std::uint8_t>(p)};
      const auto guid = node.is_switch() ? node.guid() : node.ports[p].guid;
      if (is_end_port(node, port) && ports.contains(guid)) found.emplace(guid, PortPlace{i, port});
    }
  }
  return found;
}

}  // namespace smd::sm::inline sweeping
