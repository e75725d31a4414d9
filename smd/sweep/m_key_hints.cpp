// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/m_key_hints.h"

#include <utility>

#include "smd/sweep/end_ports.h"

namespace smd::sm::inline sweeping {
namespace {

/// The port GUID of this end of a link; 0 where it is not known.
Guid guid_at(const Subnet& subnet, const PeerPort& at) {
  const auto* node = subnet.find(at.node);
  if (node == nullptr || at.port.value() >= node->ports.size()) return {};
  return port_guid(*node, at.port);
}

}  // namespace

std::vector<std::uint64_t> MKeyHints::of(Guid port) const {
  return likely ? likely(port) : std::vector<std::uint64_t>{};
}

std::vector<std::uint64_t> MKeyHints::at(const Subnet* before, const std::optional<PeerPort>& from) const {
  if (!likely) return {0};
  Guid port = from ? Guid{} : own;
  if (from && before != nullptr) {
    const auto* node = before->find(from->node);
    const auto peer = node != nullptr && from->port.value() < node->ports.size()
                          ? node->ports[from->port.value()].peer
                          : std::nullopt;
    if (peer) port = guid_at(*before, *peer);
  }
  if (from && port == Guid{} && was_behind) port = was_behind(*from);
  auto keys = likely(port);
  if (keys.empty()) keys.push_back(0);
  return keys;
}

std::uint64_t m_key_of(const Node& node, PortNum port) {
  if (node.is_switch()) return node.ports[0].info.m_key;
  if (port.value() != 0) return node.ports[port.value()].info.m_key;
  for (const auto& each : node.ports) {
    if (each.info.m_key != 0) return each.info.m_key;
  }
  return 0;
}

mad::Target target_of(const Node& node, PortNum port, mad::Route route) {
  return {.route = std::move(route), .node = node.guid(), .m_key = m_key_of(node, port)};
}

mad::Target target_of(const Subnet& subnet, const PeerPort& at, mad::Route route) {
  const auto* node = subnet.find(at.node);
  if (node == nullptr || at.port.value() >= node->ports.size())
    return {.route = std::move(route), .node = at.node};
  return target_of(*node, at.port, std::move(route));
}

}  // namespace smd::sm::inline sweeping
