// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/silent_hosts.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace smd::sm::inline sweeping {
namespace {

/// The other end of the port's link is up, and has no other one in sight; nor has the port itself.
bool is_silent_port(const Node& host, std::size_t number, const Subnet& now) {
  const auto& port = host.ports[number];
  const auto* other = port.peer ? now.find(port.peer->node) : nullptr;
  const auto* near = other != nullptr ? other->port(port.peer->port) : nullptr;
  if (near == nullptr || !near->linked() || near->peer) return false;
  const auto* is = now.find(host.guid());
  return is == nullptr || number >= is->ports.size() || !is->ports[number].peer;
}

}  // namespace

std::vector<NodePtr> silent_hosts(const Subnet& before, const Subnet& now) {
  auto candidates = before.silent_hosts;
  for (const auto& lost : now.unresponsive) {
    const auto* node = before.find(lost.behind.node);
    const auto* port = node != nullptr ? node->port(lost.behind.port) : nullptr;
    const auto host = port != nullptr && port->peer ? before.index_of(port->peer->node) : std::nullopt;
    if (host && !before.nodes[*host]->is_switch()) candidates.push_back(before.nodes[*host]);
  }
  std::map<Guid, std::shared_ptr<Node>> silent;
  for (const auto& host : candidates) {
    for (std::size_t p = 1; p < host->ports.size(); ++p) {
      if (!is_silent_port(*host, p, now)) continue;
      auto& copy = silent[host->guid()];
      if (!copy) {
        copy = std::make_shared<Node>(*host);
        std::ranges::fill(copy->ports, Port{});
      }
      copy->ports[p] = host->ports[p];
    }
  }
  std::vector<NodePtr> found;
  for (auto& [guid, host] : silent) found.push_back(std::move(host));
  return found;
}

}  // namespace smd::sm::inline sweeping
