// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/port_orders.h"

namespace smd::sm::inline planning {
namespace {

/// Null: the port is not known now.
const Port* port_of(const PlanInput& in, const policy::PortAt& at) {
  const auto* node = in.leaves_out(at.first) ? nullptr : in.subnet.find(at.first);
  if (node == nullptr || at.second.value() == 0 || at.second.value() >= node->ports.size()) return nullptr;
  const auto& port = node->ports[at.second.value()];
  return port.known ? &port : nullptr;
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

}  // namespace smd::sm::inline planning
