// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "smd/inventory/update.h"

namespace smd::sm::inline inventory {
namespace {

enum class Lids : std::uint8_t { unknown, none, some };

/// Whether the end ports of a node have LIDs; those of a switch without forwarding tables count as none.
Lids lids_of(const Node& node) {
  auto found = Lids::unknown;
  const std::size_t first = node.is_switch() ? 0 : 1;
  const std::size_t end = node.is_switch() ? std::min<std::size_t>(1, node.ports.size()) : node.ports.size();
  for (auto p = first; p < end; ++p) {
    const auto& port = node.ports[p];
    const bool counts = port.known && (node.is_switch() || port.linked());
    if (!counts) continue;
    if (port.info.lid.unicast()) return Lids::some;
    found = Lids::none;
  }
  return found;
}

}  // namespace

Restarts restarts(const Inventory& known, const Subnet* before, const Subnet& read) {
  Restarts found;
  std::size_t at = 0;
  for (const auto& node : read.nodes) {
    const auto guid = node->guid();
    const Node* old = nullptr;
    if (before != nullptr) {
      while (at < before->nodes.size() && before->nodes[at]->guid() < guid) ++at;
      if (at < before->nodes.size() && before->nodes[at]->guid() == guid) old = before->nodes[at].get();
    }
    if (old == node.get()) continue;
    const bool had_lid = old != nullptr ? lids_of(*old) == Lids::some : known.find(guid) != nullptr;
    if (had_lid && lids_of(*node) == Lids::none) found.nodes.push_back(guid);
    if (old == nullptr) continue;
    for (std::size_t p = 1; p < std::min(node->ports.size(), old->ports.size()); ++p) {
      const auto& now = node->ports[p];
      const auto& was = old->ports[p];
      const bool again = was.linked() && was.info.port_state == PortState::active && now.linked() &&
                         now.info.port_state == PortState::init && now.peer && now.peer == was.peer;
      if (!again) continue;
      const LinkEnd end{guid, PortNum{static_cast<std::uint8_t>(p)}}, peer{now.peer->node, now.peer->port};
      found.bounced.push_back(std::min(end, peer));
    }
  }
  std::ranges::sort(found.bounced);
  const auto twice = std::ranges::unique(found.bounced);
  found.bounced.erase(twice.begin(), twice.end());
  return found;
}

}  // namespace smd::sm::inline inventory
