// SPDX-License-Identifier: Apache-2.0
#include "mad/base/fabric.h"

namespace smd::base {

Guid port_guid(const FabricNode& node, PortNum port) {
  if (node.type == NodeType::switch_) return node.guid;
  if (port.value() < node.ports.size() && node.ports[port.value()].guid != Guid{}) {
    return node.ports[port.value()].guid;
  }
  return Guid{node.guid.value() + port.value()};
}

}  // namespace smd::base
