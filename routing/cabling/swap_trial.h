// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two cables that have changed places at one end each, and the fabric with them put right.

#include <string>
#include <vector>

#include "routing/cabling/health.h"

namespace smd::routing::inline cabling {

/// The cables at the ports of two lower switches should change places.
struct CableSwap {
  SwitchIndex a = 0;
  PortNum a_port;
  SwitchIndex b = 0;
  PortNum b_port;
  friend bool operator==(const CableSwap&, const CableSwap&) = default;
};

/// The fabric as it would be with the two cables in place.
Topology with_swap(const Topology& topology, const CableSwap& swap);

/// `others` would make as good a tree.
Finding describe(const HealthInput& in, const CableSwap& swap, const std::vector<CableSwap>& others = {});

/// How near the GUIDs of those are that come together by it, smaller is nearer: switches that were bought
/// together stand together.
std::uint64_t distance(const Topology& topology, const SwitchRanking& ranking, const CableSwap& swap);

}  // namespace smd::routing::inline cabling
