// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two cables that are swapped at one end each, and the fabric with the swap put right.

#include <string>
#include <vector>

#include "routing/cabling/health.h"

namespace smd::routing::inline cabling {

/// The cables at these ports of two lower switches should be swapped.
struct CableSwap {
  SwitchIndex a = 0;
  PortNum a_port;
  SwitchIndex b = 0;
  PortNum b_port;
  friend bool operator==(const CableSwap&, const CableSwap&) = default;
};

/// The fabric with the two cables swapped.
Topology with_swap(const Topology& topology, const CableSwap& swap);

/// The fabric with a cable more, at a port behind the last one of each switch. They have 253 ports at most.
Topology with_cable(const Topology& topology, SwitchIndex a, SwitchIndex b);

/// The finding for a swap. `others` are swaps that would give an equally good tree.
Finding describe(const HealthInput& in, const CableSwap& swap, const std::vector<CableSwap>& others = {});

/// The finding for the first of these, of which any may be the right one; it names the ports of all.
Finding describe_all(const HealthInput& in, const std::vector<CableSwap>& swaps);

/// How far the ports of both cables are, in sum, from the nearest by which other switches of the same kind,
/// with hosts or without, lead to the switches that the swap would lead them to.
unsigned off_ports(const Topology& topology, const CableSwap& swap);

/// Sum of GUID distances of the switches that the swap brings together: smaller is more plausible, as
/// switches that were bought together are installed together.
std::uint64_t distance(const Topology& topology, const SwitchRanking& ranking, const CableSwap& swap);

}  // namespace smd::routing::inline cabling
