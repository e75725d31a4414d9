// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/route_health.h"

#include <fmt/format.h>

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
  const auto name = [&](Guid guid) {
    const auto* const node = subnet.find(guid);
    return node == nullptr || node->description.empty() ? fmt::format("{}", guid) : node->description;
  };
  return routing::check_cabling({.topology = *routes.topology, .rate = rate, .name = name});
}

}  // namespace smd::cli
