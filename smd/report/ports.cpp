// SPDX-License-Identifier: Apache-2.0
#include "smd/report/ports.h"

#include <fmt/format.h>

#include <algorithm>

#include "mad/wire/port_info.h"

namespace smd::sm::inline reports {
namespace {

std::string why_no_link(const Port& port) {
  switch (port.info.phys_state) {
    case PhysState::disabled:
      return "no link: the port is disabled";
    case PhysState::polling:
      return "no link: no cable, or nothing at its other end";
    default:
      return fmt::format("no link: the port is in {}", to_string(port.info.phys_state));
  }
}

std::string why_silent(const Subnet& subnet, const Node& node, PortNum number) {
  const PeerPort here{node.guid(), number};
  for (const auto& lost : subnet.unresponsive) {
    if (lost.behind == here) return fmt::format("nothing answers at the other end: {}", lost.reason);
  }
  for (const auto& duplicate : subnet.duplicates) {
    if (std::ranges::find(duplicate.places, here) != duplicate.places.end())
      return fmt::format("the node at the other end shows a GUID that another one has, {}", duplicate.guid);
  }
  return "nothing answers at the other end";
}

/// Which end of a CA's link has no LID, as words that go on.
std::string missing_lid(const Node& node, const Port& port, const Node& peer) {
  if (!node.is_switch() && !port.info.lid.unicast()) return ": it has no LID";
  if (!peer.is_switch() && !peer.ports[port.peer->port.value()].info.lid.unicast())
    return fmt::format(": the port of {} has no LID", peer.description);
  return {};
}

/// What was to bring the port up and was not done, as words that go on.
std::string refused_set(const Subnet& subnet, const PeerPort& at) {
  const auto is_wide = [](const RefusedSet& set) { return set.attribute != wire::PortInfo::kAttribute; };
  for (const auto& set : subnet.refused) {  // of a switch also what its ports had to wait for
    if (set.at == at || (set.at.node == at.node && is_wide(set))) return ": " + set.reason;
  }
  return {};
}

/// That the switch cannot check P_Keys as it must, as words that go on.
std::string_view held_back(const PartitionPart* partitions, const PeerPort& at, const PeerPort& peer) {
  if (partitions == nullptr || (!partitions->holds_back(at) && !partitions->holds_back(peer))) return {};
  if (!partitions->managed)
    return ": its switch does not answer SwitchInfo, and cannot get back the P_Keys that it checked there";
  return ": the switch cannot check all P_Keys of the port, and partitions.enforcement_required asks for it";
}

}  // namespace

std::string why_not_active(const Subnet& subnet, const Node& node, PortNum number,
                           const PartitionPart* partitions) {
  const auto& port = node.ports[number.value()];
  if (!port.known) return "its PortInfo was not read";
  if (port.info.port_state == PortState::active) return {};
  if (!port.linked()) return why_no_link(port);
  if (!port.peer) return why_silent(subnet, node, number);
  const auto* peer = subnet.find(port.peer->node);
  if (peer == nullptr)
    return fmt::format("the node at the other end, {}, is not in service", port.peer->node);
  const auto here = refused_set(subnet, {node.guid(), number});
  const auto there = here.empty() ? refused_set(subnet, *port.peer) : here;
  return fmt::format("state {}{}{}{}", to_string(port.info.port_state), missing_lid(node, port, *peer), there,
                     held_back(partitions, {node.guid(), number}, *port.peer));
}

std::string_view to_string(PhysState state) {
  switch (state) {
    case PhysState::no_change:
      return "NoChange";
    case PhysState::sleep:
      return "Sleep";
    case PhysState::polling:
      return "Polling";
    case PhysState::disabled:
      return "Disabled";
    case PhysState::training:
      return "Training";
    case PhysState::link_up:
      return "LinkUp";
    case PhysState::error_recovery:
      return "LinkErrorRecovery";
    case PhysState::phy_test:
      return "PhyTest";
  }
  return "unknown";
}

}  // namespace smd::sm::inline reports
