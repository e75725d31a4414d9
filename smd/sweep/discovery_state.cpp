// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/discovery_state.h"

#include <fmt/format.h>

#include <algorithm>

namespace smd::sm::inline sweeping {
namespace {

/// Why an answer cannot be a node; empty where it can.
std::string nonsense(const wire::NodeInfo& info) {
  const bool is_switch = info.type == NodeType::switch_;
  if (info.type != NodeType::ca && !is_switch && info.type != NodeType::router) {
    return fmt::format("NodeType {} is not a CA, switch or router", static_cast<unsigned>(info.type));
  }
  if (info.node == Guid{}) return "NodeGUID is 0";
  if (!is_switch && info.port == Guid{}) return "PortGUID is 0";
  if (info.num_ports == 0 || info.num_ports == 255) return fmt::format("NumberOfPorts is {}", info.num_ports);
  if (info.local_port.value() > info.num_ports || (!is_switch && info.local_port.value() == 0)) {
    return fmt::format("LocalPortNum {} of {} ports", info.local_port, info.num_ports);
  }
  return {};
}

bool same_make(const wire::NodeInfo& a, const wire::NodeInfo& b) {
  return a.type == b.type && a.num_ports == b.num_ports && a.vendor_id == b.vendor_id &&
         a.device_id == b.device_id && a.system_image == b.system_image;
}

}  // namespace

FoundNode* DiscoveryState::find(Guid guid) const {
  const auto it = by_guid_.find(guid);
  return it == by_guid_.end() ? nullptr : it->second;
}

FoundNode& DiscoveryState::add(Node node, const mad::DirectedPath& path) {
  auto& found = *nodes_.emplace_back(std::make_unique<FoundNode>());
  found.node = std::move(node);
  found.path = path;
  by_guid_.emplace(found.node.guid(), &found);
  return found;
}

FoundNode* DiscoveryState::touch(Guid guid) {
  if (auto* found = find(guid); found != nullptr) return found;
  const auto* node = known_ != nullptr ? known_->find(guid) : nullptr;
  return node != nullptr ? &add(*node, {}) : nullptr;
}

std::optional<PeerPort> DiscoveryState::unlink(FoundNode& found, PortNum port) {
  const auto peer = std::exchange(found.node.ports[port.value()].peer, std::nullopt);
  if (!peer) return peer;
  auto* other = touch(peer->node);
  if (other == nullptr || peer->port.value() >= other->node.ports.size()) return peer;
  auto& back = other->node.ports[peer->port.value()].peer;
  if (back == PeerPort{found.node.guid(), port}) {
    back.reset();
    other->outdated.insert(peer->port);
  }
  return peer;
}

void DiscoveryState::conflict(Guid guid, const PeerPort& one, const PeerPort& other) {
  auto& places = conflicts_[guid];
  for (const auto& place : {one, other}) {
    if (std::ranges::find(places, place) == places.end()) places.push_back(place);
  }
}

void DiscoveryState::link(FoundNode& a, PortNum a_port, FoundNode& b, PortNum b_port) {
  const PeerPort a_place{a.node.guid(), a_port}, b_place{b.node.guid(), b_port};
  auto& a_peer = a.node.ports[a_port.value()].peer;
  auto& b_peer = b.node.ports[b_port.value()].peer;
  if (b_peer && *b_peer != a_place) conflict(b.node.guid(), *b_peer, a_place);
  if (a_peer && *a_peer != b_place) conflict(a.node.guid(), *a_peer, b_place);
  if (!a_peer) a_peer = b_place;
  if (!b_peer) b_peer = a_place;
}

std::optional<ToRead> DiscoveryState::arrived(const wire::NodeInfo& info, std::optional<PeerPort> from,
                                              const mad::DirectedPath& path, std::string& reason) {
  reason = nonsense(info);
  if (!reason.empty()) return std::nullopt;
  auto* found = touch(info.node);
  const bool is_new = found == nullptr;
  if (is_new) {
    Node node;
    node.info = info;
    node.ports.resize(std::size_t{info.num_ports} + 1);
    found = &add(std::move(node), path);
  }
  auto* source = from ? find(from->node) : nullptr;
  if (!is_new && !same_make(found->node.info, info) && from) {
    const auto& first = found->node.ports[found->node.info.local_port.value()].peer;
    conflict(info.node, first.value_or(*from), *from);
    return std::nullopt;
  }
  auto& port = found->node.ports[info.local_port.value()];
  const bool new_port = info.type != NodeType::switch_ &&
                        std::ranges::find(found->arrivals, info.local_port) == found->arrivals.end();
  if (new_port) found->arrivals.push_back(info.local_port);
  if (info.type != NodeType::switch_) port.guid = info.port;
  if (source != nullptr) link(*source, from->port, *found, info.local_port);
  const bool whole = !std::exchange(found->read, true);
  if (!whole && !new_port) return std::nullopt;
  if (whole) found->path = path;
  return ToRead{found, path, info.local_port, whole};
}

void part_port_guids(Subnet& subnet, const Subnet* before) {
  std::map<Guid, std::vector<PeerPort>> places;
  for (const auto& node : subnet.nodes) {
    for (std::size_t p = 1; p < node->ports.size() && !node->is_switch(); ++p) {
      const PortNum num{static_cast<std::uint8_t>(p)};
      if (node->ports[p].known) places[node->ports[p].guid].push_back({node->guid(), num});
    }
    if (node->is_switch()) places[node->guid()].push_back({node->guid(), PortNum{0}});
  }
  const auto stays = [&](Guid guid, const PeerPort& place) {
    if (place == PeerPort{subnet.sm_node, subnet.sm_port} || place.port == PortNum{0}) return true;
    const auto* node = before != nullptr ? before->find(place.node) : nullptr;
    return node != nullptr && place.port.value() < node->ports.size() &&
           node->ports[place.port.value()].guid == guid;
  };
  for (auto& [guid, ports] : places) {
    if (ports.size() < 2) continue;
    for (const auto& place : ports) {
      if (stays(guid, place)) continue;
      const auto index = *subnet.index_of(place.node);
      auto copy = std::make_shared<Node>(*subnet.nodes[index]);
      copy->ports[place.port.value()].known = false;
      subnet.nodes[index] = std::move(copy);
    }
    subnet.duplicates.push_back({guid, std::move(ports)});
  }
}

Subnet make_subnet(DiscoveryState&& findings, PeerPort self, const Subnet* before) {
  Subnet subnet;
  subnet.sm_node = self.node;
  subnet.sm_port = self.port;
  for (const auto& found : findings.nodes()) {
    const auto guid = found->node.guid();
    if (findings.conflicts().contains(guid) && guid != self.node) continue;
    subnet.nodes.push_back(std::make_shared<const Node>(std::move(found->node)));
  }
  std::ranges::sort(subnet.nodes, {}, [](const NodePtr& node) { return node->guid(); });
  subnet.index();
  for (const auto& [guid, places] : findings.conflicts()) subnet.duplicates.push_back({guid, places});
  part_port_guids(subnet, before);
  return subnet;
}

}  // namespace smd::sm::inline sweeping
