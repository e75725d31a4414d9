// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/enforcement.h"

#include <algorithm>
#include <optional>

namespace smd::sm::inline sweeping {
namespace {

/// Not read, or a node that does not answer is behind it: who it is shows when it answers.
bool not_told(const Port& port) { return !port.known || (port.linked() && !port.peer); }

/// The node that the bits of a port are for now, as far as it is known: they were set or left before the link
/// was put in service.
std::optional<Guid> in_service_for(const Port& port) {
  if (!port.peer || port.info.port_state <= PortState::init) return std::nullopt;
  return port.peer->node;
}

void note_node(const Node& node, EnforcedFor& noted) {
  for (std::size_t p = 1; p < node.ports.size(); ++p) {
    const auto& port = node.ports[p];
    if (not_told(port)) continue;
    const std::pair at{node.guid(), PortNum{static_cast<std::uint8_t>(p)}};
    if (!enforces(port.info)) {
      noted.erase(at);
    } else if (const auto peer = in_service_for(port)) {
      noted.insert_or_assign(at, *peer);
    } else {
      noted.try_emplace(at, port.peer ? port.peer->node : Guid{});
    }
  }
}

/// Whether `noted` says of each port of the node what is so.
bool is_noted(const Node& node, const EnforcedFor& noted) {
  for (std::size_t p = 1; p < node.ports.size(); ++p) {
    const auto& port = node.ports[p];
    if (not_told(port)) continue;
    const auto found = noted.find({node.guid(), PortNum{static_cast<std::uint8_t>(p)}});
    if (enforces(port.info) != (found != noted.end())) return false;
    const auto peer = in_service_for(port);
    if (found != noted.end() && peer && *peer != found->second) return false;
  }
  return true;
}

}  // namespace

bool enforces(const wire::PortInfo& info) { return info.partition_enforce_in || info.partition_enforce_out; }

bool forgets_enforcement(const Node& node, PortNum port) {
  if (node.not_kept.empty() || enforces(node.ports[port.value()].info)) return false;
  return std::ranges::any_of(node.not_kept, [&](const NotKept& noted) {
    return noted.attribute == wire::PortInfo::kAttribute && noted.port == port && noted.desired == 1 &&
           noted.field.starts_with("PartitionEnforcement");
  });
}

void stop_enforcing(wire::PortInfo& info) {
  info.partition_enforce_in = info.partition_enforce_out = false;
  info.filter_raw_in = info.filter_raw_out = false;
}

bool enforces_for_another(const Subnet& subnet, const Node& node, PortNum num) {
  const auto& port = node.ports[num.value()];
  if (!node.is_switch() || num == PortNum{0} || !port.peer || !enforces(port.info)) return false;
  const auto* peer = subnet.find(port.peer->node);
  if (peer != nullptr && peer->is_switch()) return true;
  if (!subnet.enforced) return false;
  const auto noted = subnet.enforced->find({node.guid(), num});
  return noted != subnet.enforced->end() && noted->second != port.peer->node;
}

void note_enforcement(Subnet& now, const Subnet* before) {
  auto noted = before != nullptr ? before->enforced : nullptr;
  if (!noted) noted = std::make_shared<const EnforcedFor>();
  std::shared_ptr<EnforcedFor> edited;
  for (const auto& node : now.nodes) {
    if (!node->is_switch() || is_noted(*node, *noted)) continue;
    if (!edited) edited = std::make_shared<EnforcedFor>(*noted);
    note_node(*node, *edited);
  }
  now.enforced = edited ? std::move(edited) : std::move(noted);
}

}  // namespace smd::sm::inline sweeping
