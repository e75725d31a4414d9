// SPDX-License-Identifier: Apache-2.0
#include "smd/api/fabric_ports.h"

#include "smd/sweep/end_ports.h"

namespace smd::api {

FabricPorts::FabricPorts(const sm::Snapshot* now)
    : views_(now != nullptr ? sm::port_views(*now->subnet) : sm::PortViews{}), index_(views_.views) {
  const auto* node = now != nullptr ? now->subnet->find(now->subnet->sm_node) : nullptr;
  if (node != nullptr && now->subnet->sm_port.value() < node->ports.size())
    self_ = sm::port_guid(*node, now->subnet->sm_port);
}

}  // namespace smd::api
