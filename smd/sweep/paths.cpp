// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/paths.h"

#include <map>
#include <ranges>

namespace smd::sm::inline sweeping {

Paths::Paths(const Subnet& subnet, const Avoid& avoid)
    : steps_(subnet.nodes.size()), sm_port_(subnet.sm_port) {
  const auto self = subnet.index_of(subnet.sm_node);
  if (!self) return;
  sm_node_ = *self;
  steps_[*self].parent = kSelf;
  std::vector<std::size_t> queue{*self};
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const auto at = queue[head];
    const auto& node = *subnet.nodes[at];
    if (!node.is_switch() && at != *self) continue;
    if (avoid.nodes.contains(node.guid())) continue;
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      if (!node.is_switch() && p != subnet.sm_port.value()) continue;
      const auto& port = node.ports[p];
      if (!port.linked() || !port.peer) continue;
      const auto next = subnet.index_of(port.peer->node);
      if (!next || steps_[*next].parent != kUnreached) continue;
      const PortNum out{static_cast<std::uint8_t>(p)};
      if (avoid.ports.contains({node.guid(), out}) ||
          avoid.ports.contains({port.peer->node, port.peer->port}))
        continue;
      steps_[*next] = {static_cast<std::int32_t>(at), out};
      queue.push_back(*next);
    }
  }
}

std::optional<mad::DirectedPath> Paths::to(std::size_t node) const {
  if (node >= steps_.size() || steps_[node].parent == kUnreached) return std::nullopt;
  std::vector<PortNum> reversed;
  for (auto at = node; steps_[at].parent != kSelf; at = static_cast<std::size_t>(steps_[at].parent)) {
    reversed.push_back(steps_[at].out);
  }
  if (reversed.size() > mad::DirectedPath::kMaxHops) return std::nullopt;
  mad::DirectedPath path;
  for (const auto port : reversed | std::views::reverse) path = *path.then(port);
  return path;
}

std::vector<mad::DirectedPath> Paths::ways(const Subnet& subnet, std::size_t node, std::size_t most) const {
  std::vector<mad::DirectedPath> found;
  if (const auto path = to(node); path) found.push_back(*path);
  if (node == sm_node_) return found;
  std::multimap<std::size_t, mad::DirectedPath> others;  // by hops, of equals the lower port first
  for (const auto& port : subnet.nodes[node]->ports) {
    const auto before = port.linked() && port.peer ? subnet.index_of(port.peer->node) : std::nullopt;
    if (!before || !subnet.nodes[*before]->is_switch()) continue;
    const auto path = to(*before);
    const auto way = path ? path->then(port.peer->port) : std::nullopt;
    if (way && (found.empty() || *way != found.front())) others.emplace(way->hops(), *way);
  }
  for (const auto& [hops, way] : others) {
    if (found.size() < most) found.push_back(way);
  }
  return found;
}

std::optional<mad::DirectedPath> Paths::to_port(const Subnet& subnet, std::size_t node, PortNum port) const {
  const auto& target = *subnet.nodes[node];
  if (target.is_switch() || (node == sm_node_ && port == sm_port_)) return to(node);
  if (port.value() >= target.ports.size() || !target.ports[port.value()].peer) return std::nullopt;
  const auto& peer = *target.ports[port.value()].peer;
  const auto before = subnet.index_of(peer.node);
  if (!before) return std::nullopt;
  const bool forwards = subnet.nodes[*before]->is_switch() || (*before == sm_node_ && peer.port == sm_port_);
  const auto path = to(*before);
  return path && forwards ? path->then(peer.port) : std::nullopt;
}

}  // namespace smd::sm::inline sweeping
