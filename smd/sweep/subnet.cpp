// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/subnet.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace smd::sm::inline sweeping {

void Subnet::index() {
  auto made = std::make_shared<base::GuidIndex>(nodes.size());
  for (std::uint32_t at = 0; at < nodes.size(); ++at) made->add(nodes[at]->guid(), at);
  places = std::move(made);
}

std::optional<std::size_t> Subnet::index_of(Guid node) const {
  if (places) {
    const std::size_t at = places->find(node);
    // They may be those of nodes that have been changed since.
    if (at < nodes.size() && nodes[at]->guid() == node) return at;
  }
  const auto it = std::ranges::lower_bound(nodes, node, {}, [](const NodePtr& n) { return n->guid(); });
  if (it == nodes.end() || (*it)->guid() != node) return std::nullopt;
  return static_cast<std::size_t>(it - nodes.begin());
}

const Node* Subnet::find(Guid node) const {
  const auto index = index_of(node);
  return index ? nodes[*index].get() : nullptr;
}

const Port* Node::port(PortNum number) const {
  return number.value() < ports.size() ? &ports[number.value()] : nullptr;
}

const Port* Subnet::peer_of(const Port& port) const {
  const auto* node = port.peer ? find(port.peer->node) : nullptr;
  return node != nullptr ? node->port(port.peer->port) : nullptr;
}

bool is_end_port(const Node& node, PortNum port) {
  if (node.is_switch()) return port.value() == 0;
  return port.value() != 0 && port.value() < node.ports.size() && node.ports[port.value()].linked();
}

bool is_cut_off(const Subnet& subnet) {
  const auto* self = subnet.find(subnet.sm_node);
  if (self == nullptr || self->is_switch() || subnet.sm_port.value() >= self->ports.size()) return false;
  const auto& port = self->ports[subnet.sm_port.value()];
  return port.known && !port.linked();
}

unsigned lft_capacity(const Node& node) {
  if (!node.switch_info) return 0;
  const unsigned says = node.switch_info->linear_fdb_cap, top = node.switch_info->linear_fdb_top;
  const bool shown = top != 0 && node.lft.known.count() * routing::kLftBlock > top;
  return shown ? std::max(says, top + 1) : says;
}

void Node::name(std::string shown) {
  auto own = own_description();
  description = std::move(shown);
  reported = own == description ? std::string() : std::move(own);
}

std::string printable(std::string text) {
  for (auto& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) c = ' ';
  }
  return text;
}

const std::string& raw_name(const Node& node) {
  const bool is_reported = !node.reported.empty() && printable(node.reported) == node.description;
  return is_reported ? node.reported : node.description;
}

std::string port_text(const Node& node, PortNum port) {
  return fmt::format("{} {} port {}", node.guid(), node.description, port);
}

}  // namespace smd::sm::inline sweeping
