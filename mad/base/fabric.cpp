// SPDX-License-Identifier: Apache-2.0
#include "mad/base/fabric.h"

namespace smd::base {

Guid port_guid(const FabricNode& node, PortNum port) {
  const bool is_switch = node.type == NodeType::switch_;
  const std::size_t index = is_switch ? 0 : port.value();
  if (index < node.ports.size() && node.ports[index].guid != Guid{}) return node.ports[index].guid;
  return is_switch ? node.guid : Guid{node.guid.value() + port.value()};
}

}  // namespace smd::base
