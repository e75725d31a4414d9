// SPDX-License-Identifier: Apache-2.0
// NodeInfo, NodeDescription, GUIDInfo.
#include "mad/sim/agents/sma.h"

namespace smd::sim {

Status node_info(Request& request) {
  if (request.set) return kBadMethodAttribute;
  if (request.smp.modifier() != 0) return kInvalid;
  const auto& node = request.node();
  const auto& capacities = request.state.options.capacities;
  wire::NodeInfo info;
  info.base_version = 1;
  info.class_version = 1;
  info.type = node.type;
  info.num_ports = static_cast<std::uint8_t>(node.ports);
  info.system_image = node.system_image;
  info.node = node.guid;
  info.port = node.is_switch() ? node.guid : request.here().guid;
  info.partition_cap = node.is_switch() ? capacities.switch_pkeys : capacities.ca_pkeys;
  info.device_id = node.device_id;
  info.revision = 0xA0;
  info.local_port = request.here().number;
  info.vendor_id = node.vendor_id;
  return answer(request, info);
}

Status node_description(Request& request) {
  if (request.set) return kBadMethodAttribute;
  if (request.smp.modifier() != 0) return kInvalid;
  return answer(request, wire::NodeDescription{.text = request.node().name});
}

Status guid_info(Request& request) {
  constexpr unsigned kBlock = 8;
  const auto index = request.end_port();
  auto& port = request.state.ports[index];
  const auto first = std::uint64_t{request.smp.modifier()} * kBlock;
  const unsigned capacity = port.info.guid_cap;
  if (first >= capacity) return kInvalid;
  if (request.set) {
    const auto desired = asked<wire::GuidInfo>(request);
    if (!port.tables) port.tables = std::make_unique<PortTables>();
    port.tables->guids.resize(capacity);
    for (unsigned i = 0; i < kBlock && first + i < capacity; ++i) {
      if (first + i != 0)
        port.tables->guids[first + i] = desired.guids[i].value();  // the first is the device's
    }
  }
  wire::GuidInfo info;
  for (unsigned i = 0; i < kBlock && first + i < capacity; ++i) {
    if (port.tables && first + i < port.tables->guids.size())
      info.guids[i] = Guid{port.tables->guids[first + i]};
  }
  if (first == 0) info.guids[0] = request.node().is_switch() ? request.node().guid : port.guid;
  return answer(request, info);
}

}  // namespace smd::sim
