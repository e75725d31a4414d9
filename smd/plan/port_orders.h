// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ports whose links an operator has taken down, or trains anew.

#include <memory>
#include <optional>
#include <set>

#include "smd/plan/plan.h"
#include "smd/policy/disabled_ports.h"

namespace smd::sm::inline planning {

struct PortOrders {
  /// Stay disabled; never null.
  std::shared_ptr<const policy::DisabledPorts> disabled = std::make_shared<const policy::DisabledPorts>();
  std::set<policy::PortAt> train;  ///< once: to Polling, from Disabled too
  /// Nothing is ordered.
  bool none() const { return disabled->empty() && train.empty(); }
};

/// A Set for each port that is not as ordered. Ports of nodes that are not there have none. Pure.
Round port_orders_round(const PlanInput& in, const PortOrders& orders);

/// `subnet` without the links of ports that are to stay disabled and have come up (their switch has
/// restarted), and without the nodes behind these links: neither end is brought up, and no route is decided
/// over them. Nothing where there is no such link. A link stays where it is the only way to the end that is
/// to be disabled. Pure.
std::optional<Subnet> without_disabled(const Subnet& subnet, const policy::DisabledPorts& disabled);

}  // namespace smd::sm::inline planning
