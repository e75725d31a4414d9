// SPDX-License-Identifier: Apache-2.0
#pragma once
// Traces multicast packets through the tables as switches forward them. Independent of the code that computes
// trees.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "routing/multicast/tree.h"

namespace smd::routing::inline multicast {

/// What became of one packet.
struct McDelivery {
  std::vector<McMember> twice;   ///< members that got it more than once
  std::vector<McMember> missed;  ///< receivers connected to the sender that did not get it
  bool loop = false;             ///< it came through one switch port more than once
  std::uint64_t strays = 0;      ///< copies to ports of no member
  std::uint64_t hops = 0;        ///< copies from switch to switch

  /// No duplicates and no loop.
  bool sound() const { return !loop && twice.empty(); }
  bool whole() const { return sound() && missed.empty(); }  ///< sound, and all receivers got it
};

/// Traces the packet that `sender` sends to the group. Pure.
McDelivery deliver(const Topology& topology, const McTree& tree, std::span<const McMember> members,
                   const McMember& sender);

}  // namespace smd::routing::inline multicast
