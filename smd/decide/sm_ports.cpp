// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/sm_ports.h"

#include <algorithm>

#include "smd/sweep/end_ports.h"
#include "smd/sweep/known_sms.h"

namespace smd::sm::inline decisions {
namespace {

/// By its place and not by the GUID that it claims: what it gets is for that port.
bool is_of_this_subnet(const config::SmConfig& config, Guid port, const wire::SmInfo& info) {
  if (is_other_key(config.sm_key, info.sm_key)) return false;
  const auto& allowed = config.allowed_guids;
  const bool listed = std::ranges::find(allowed, port) != allowed.end();
  return listed || (allowed.empty() && !config.force);
}

}  // namespace

std::vector<PeerPort> sm_ports(const Subnet& subnet, const config::SmConfig& config) {
  std::vector<PeerPort> ports;
  const auto* self = subnet.find(subnet.sm_node);
  if (self != nullptr && subnet.sm_port.value() < self->ports.size())
    ports.push_back({self->guid(), self->is_switch() ? PortNum{0} : subnet.sm_port});
  for (const auto& sm : known_sms(subnet)) {
    const auto* node = subnet.find(sm.at.node);
    if (node == nullptr || !is_end_port(*node, sm.at.port)) continue;
    if (is_of_this_subnet(config, port_guid(*node, sm.at.port), sm.info)) ports.push_back(sm.at);
  }
  return ports;
}

std::optional<PeerPort> switch_port_of(const Subnet& subnet, const PeerPort& at) {
  const auto* node = subnet.find(at.node);
  if (node == nullptr || node->is_switch() || at.port.value() >= node->ports.size()) return std::nullopt;
  const auto& peer = node->ports[at.port.value()].peer;
  const auto* next = peer ? subnet.find(peer->node) : nullptr;
  if (next == nullptr || !next->is_switch() || peer->port.value() >= next->ports.size()) return std::nullopt;
  return peer;
}

}  // namespace smd::sm::inline decisions
