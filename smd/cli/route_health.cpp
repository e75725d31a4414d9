// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/route_health.h"

#include <fmt/format.h>

#include <string_view>
#include <unordered_map>

#include "mad/wire/capability.h"

namespace smd::cli {

routing::Health examine(const sm::Subnet& subnet, const sm::RoutePart& routes) {
  const auto rate = [&](routing::PortName port) {
    const auto* const node = subnet.find(port.node);
    if (node == nullptr || port.port.value() >= node->ports.size()) return routing::PortRate{};
    const auto& found = node->ports[port.port.value()];
    return routing::PortRate{static_cast<LinkWidth>(found.info.link_width_active),
                             wire::link_speed(found.info, found.mlnx)};
  };
  std::unordered_map<std::string_view, std::size_t> nodes;  // by name
  for (const auto& node : subnet.nodes) ++nodes[node->description];
  const auto name = [&](Guid guid) {
    const auto* const node = subnet.find(guid);
    if (node == nullptr || node->description.empty()) return fmt::format("{}", guid);
    return nodes.at(node->description) == 1 ? node->description
                                            : fmt::format("{} ({})", node->description, guid);
  };
  return routing::check_cabling({.topology = *routes.topology, .rate = rate, .name = name});
}

}  // namespace smd::cli
