// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two cables that have changed places at one end each, and the fabric with them put right.

#include <string>
#include <vector>

#include "routing/cabling/health.h"

namespace smd::routing {

/// The cables at the ports of two lower switches should change places.
struct Exchange {
  SwitchIndex a = 0;
  PortNum a_port;
  SwitchIndex b = 0;
  PortNum b_port;
  friend bool operator==(const Exchange&, const Exchange&) = default;
};

/// The fabric as it would be with the two cables in place.
Topology put_right(const Topology& topology, const Exchange& exchange);

/// `others` would make as good a tree.
Finding tell(const HealthInput& in, const Exchange& exchange, const std::vector<Exchange>& others = {});

/// How near the GUIDs of those are that come together by it, smaller is nearer: switches that were bought
/// together stand together.
std::uint64_t distance(const Topology& topology, const Order& order, const Exchange& exchange);

}  // namespace smd::routing
