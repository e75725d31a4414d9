// SPDX-License-Identifier: Apache-2.0
#include "smd/api/fabric_ports.h"

#include <utility>

#include "smd/inventory/gone.h"
#include "smd/sweep/end_ports.h"
#include "smd/sweep/unresponsive.h"

namespace smd::api {

FabricPorts::FabricPorts(const sm::Snapshot* now)
    : views_(now != nullptr ? sm::port_views(*now->subnet, now->stored.get()) : sm::PortViews{}),
      index_(views_.views),
      self_(now != nullptr ? sm::own_port_guid(*now->subnet) : Guid{}) {}

std::set<Guid> absent_hosts(const sm::Snapshot& now) {
  std::set<Guid> absent;
  if (!now.inventory) return absent;
  for (const auto& [guid, when] : now.inventory->lost_nodes()) absent.insert(guid);
  for (const auto& silent : sm::silent_nodes(*now.subnet)) {
    const auto node = silent.first->node;
    if (node == Guid{}) continue;
    if (now.subnet->find(node) == nullptr) absent.insert(node);
    for (const auto host : sm::hosts_behind(*now.inventory, node, *now.subnet)) absent.insert(host);
  }
  return absent;
}

NamedPorts absent_ports(const sm::Snapshot& now, const std::set<Guid>& nodes) {
  std::vector<config::PortView> ports;
  const auto names = std::make_shared<std::deque<std::string>>();
  for (const auto guid : nodes) {
    const auto* node = now.inventory ? now.inventory->find(guid) : nullptr;
    if (node == nullptr || node->is_switch()) continue;
    const auto& name = names->emplace_back(sm::printable(node->name));
    now.inventory->for_each_link(guid, [&](const sm::LinkEnd& end, const sm::KnownLink&) {
      ports.push_back({.port_guid = now.stored ? sm::absent_port_guid(*now.stored, end) : end.node,
                       .node_guid = end.node,
                       .node_name = name,
                       .port = end.port,
                       .type = node->type});
    });
  }
  return {.ports = std::move(ports), .names = names};
}

}  // namespace smd::api
