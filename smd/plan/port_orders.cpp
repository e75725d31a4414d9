// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/port_orders.h"

#include <memory>
#include <set>
#include <utility>

#include "smd/sweep/merge.h"

namespace smd::sm::inline planning {
namespace {

/// Null: the port is not known now.
const Port* port_of(const Subnet& subnet, const policy::PortAt& at) {
  const auto* node = subnet.find(at.first);
  if (node == nullptr || at.second.value() == 0 || at.second.value() >= node->ports.size()) return nullptr;
  const auto& port = node->ports[at.second.value()];
  return port.known ? &port : nullptr;
}
const Port* port_of(const PlanInput& in, const policy::PortAt& at) {
  return in.leaves_out(at.first) ? nullptr : port_of(in.subnet, at);
}

Subnet without_links(Subnet subnet, const std::set<policy::PortAt>& ends) {
  for (const auto& [guid, number] : ends) {
    auto& node = subnet.nodes[*subnet.index_of(guid)];
    auto changed = std::make_shared<Node>(*node);
    changed->ports[number.value()].peer.reset();
    node = std::move(changed);
  }
  drop_unreached(subnet);
  const auto gone = [&](const auto& place) { return subnet.find(place.node) == nullptr; };
  std::erase_if(subnet.unresponsive, [&](const Unresponsive& item) { return gone(item.behind); });
  std::erase_if(subnet.other_sms, [&](const OtherSm& sm) { return gone(sm.at); });
  std::erase_if(subnet.former_sms, [&](const OtherSm& sm) { return gone(sm.at); });
  std::erase_if(subnet.refused, [&](const RefusedSet& set) { return gone(set.at); });
  std::erase_if(subnet.altered, [&](const AlteredTable& table) { return gone(table.at); });
  return subnet;
}

}  // namespace

Round port_orders_round(const PlanInput& in, const PortOrders& orders) {
  Round round;
  round.phase = Phase::port_orders;
  const auto add = [&](const policy::PortAt& at, PhysState to) {
    const auto node = static_cast<NodeIndex>(*in.subnet.index_of(at.first));
    round.ports.push_back({node, at.second, PortState::down, to});
  };
  for (const auto& [at, port] : *orders.disabled) {
    const auto* now = port_of(in, at);
    if (now != nullptr && now->info.phys_state != PhysState::disabled) add(at, PhysState::disabled);
  }
  for (const auto& at : orders.train) {
    if (port_of(in, at) != nullptr && !orders.disabled->contains(at)) add(at, PhysState::polling);
  }
  return round;
}

std::optional<Subnet> without_disabled(const Subnet& subnet, const policy::DisabledPorts& disabled) {
  std::set<policy::PortAt> ends;
  for (const auto& [at, by] : disabled) {
    const auto* port = port_of(subnet, at);
    if (port != nullptr && port->linked() && port->peer) ends.insert(at);
  }
  while (!ends.empty()) {
    auto without = without_links(subnet, ends);
    const auto only_ways = std::erase_if(ends, [&](const auto& at) { return !without.find(at.first); });
    if (only_ways == 0) return without;
  }
  return std::nullopt;
}

}  // namespace smd::sm::inline planning
