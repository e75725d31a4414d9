// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/unmanaged_switches.h"

#include <algorithm>

namespace smd::sm::inline sweeping {
namespace {

bool linked_to(const Subnet& subnet, const Node& node) {
  return std::ranges::any_of(node.ports, [&](const Port& port) {
    const auto* neighbour = port.peer ? subnet.find(port.peer->node) : nullptr;
    return neighbour != nullptr && port.peer->port.value() < neighbour->ports.size() &&
           neighbour->ports[port.peer->port.value()].linked();
  });
}

}  // namespace

std::vector<NodePtr> unmanaged_switches(const Subnet& before, const Subnet& now) {
  std::vector<NodePtr> found;
  const auto look_at = [&](const NodePtr& node) {
    if (!node->is_switch() || !node->switch_info || !node->lft.row) return;
    const auto* is = now.find(node->guid());
    if ((is == nullptr || !is->switch_info) && linked_to(now, *node)) found.push_back(node);
  };
  std::ranges::for_each(before.nodes, look_at);
  std::ranges::for_each(before.unmanaged, look_at);
  return found;
}

}  // namespace smd::sm::inline sweeping
