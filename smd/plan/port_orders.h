// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ports whose links an operator has taken down, or trains anew.

#include <memory>
#include <set>

#include "smd/plan/plan.h"
#include "smd/policy/disabled_ports.h"

namespace smd::sm::inline planning {

struct PortOrders {
  /// Stay disabled; never null.
  std::shared_ptr<const policy::DisabledPorts> disabled = std::make_shared<const policy::DisabledPorts>();
  std::set<policy::PortAt> train;  ///< once: to Polling, from Disabled too
  bool none() const { return disabled->empty() && train.empty(); }
};

/// A Set for each port that is not as ordered. Ports of nodes that are not there have none. Pure.
Round port_orders_round(const PlanInput& in, const PortOrders& orders);

}  // namespace smd::sm::inline planning
