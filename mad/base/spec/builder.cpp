// SPDX-License-Identifier: Apache-2.0
#include "mad/base/spec/builder.h"

#include <fmt/format.h>

#include "mad/base/bug.h"

namespace smd::base::spec {

NodeIndex FabricBuilder::add_switch(std::string name, unsigned ports) {
  return add(NodeType::switch_, std::move(name), ports);
}

NodeIndex FabricBuilder::add_host(std::string name, unsigned ports) {
  return add(NodeType::ca, std::move(name), ports);
}

NodeIndex FabricBuilder::add(NodeType type, std::string name, unsigned ports) {
  const bool is_switch = type == NodeType::switch_;
  auto& node = fabric_.nodes.emplace_back();
  node.type = type;
  node.guid = node.system_image = Guid{next_guid_};
  node.vendor_id = 0x2c9;
  node.device_id = is_switch ? 0xd2f0 : 0x1017;
  node.id = fmt::format("{}-{:016x}", is_switch ? 'S' : 'H', next_guid_);
  node.name = std::move(name);
  node.ports.resize(ports + 1);
  next_guid_ += is_switch ? 0x10U : (ports / 16 + 1) * 0x10U;  // the ports of a host have GUIDs too
  return static_cast<NodeIndex>(fabric_.nodes.size() - 1);
}

void FabricBuilder::link(NodeIndex a, unsigned port_a, NodeIndex b, unsigned port_b) {
  auto& end_a = fabric_.nodes[a].ports.at(port_a);
  auto& end_b = fabric_.nodes[b].ports.at(port_b);
  SMD_ASSERT(!end_a.peer && !end_b.peer && port_a != 0 && port_b != 0);
  end_a.peer = Peer{b, PortNum{static_cast<std::uint8_t>(port_b)}};
  end_b.peer = Peer{a, PortNum{static_cast<std::uint8_t>(port_a)}};
  end_a.rate.speed = end_b.rate.speed = LinkSpeed::hdr;
}

}  // namespace smd::base::spec
