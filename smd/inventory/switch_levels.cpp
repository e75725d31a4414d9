// SPDX-License-Identifier: Apache-2.0
#include "smd/inventory/switch_levels.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace smd::sm::inline inventory {
namespace {

bool is_host(NodeType type, std::string_view description) {
  return type == NodeType::ca && !is_aggregation_node(description);
}

bool has_hosts(const Subnet& subnet, const Inventory* known, const Node& node) {
  const auto leads_to_host = [&](const Port& port) {
    const auto* peer = port.peer ? subnet.find(port.peer->node) : nullptr;
    return peer != nullptr && is_host(peer->info.type, peer->description);
  };
  if (std::ranges::any_of(node.ports, leads_to_host)) return true;
  bool found = false;
  if (known == nullptr) return found;
  known->for_each_link(node.guid(), [&](const LinkEnd&, const KnownLink& link) {
    const auto* peer = link.lost() ? known->find(link.peer.node) : nullptr;
    found = found || (peer != nullptr && peer->lost() && is_host(peer->type, peer->name));
  });
  return found;
}

}  // namespace

bool is_aggregation_node(std::string_view description) { return description.contains("Aggregation Node"); }

std::vector<std::optional<unsigned>> switch_levels(const Subnet& subnet, const Inventory* known) {
  std::vector<std::optional<unsigned>> levels(subnet.nodes.size());
  std::vector<std::size_t> row, next;
  for (std::size_t i = 0; i < subnet.nodes.size(); ++i) {
    if (!subnet.nodes[i]->is_switch() || !has_hosts(subnet, known, *subnet.nodes[i])) continue;
    levels[i] = 0;
    row.push_back(i);
  }
  for (unsigned level = 1; !row.empty(); ++level, row = std::exchange(next, {})) {
    for (const auto at : row) {
      for (const auto& port : subnet.nodes[at]->ports) {
        const auto peer = port.peer ? subnet.index_of(port.peer->node) : std::nullopt;
        if (!peer || levels[*peer] || !subnet.nodes[*peer]->is_switch()) continue;
        levels[*peer] = level;
        next.push_back(*peer);
      }
    }
  }
  return levels;
}

}  // namespace smd::sm::inline inventory
