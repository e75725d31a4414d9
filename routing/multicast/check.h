// SPDX-License-Identifier: Apache-2.0
#pragma once
// Follows multicast packets through the tables, as the switches would forward them. Knows nothing of how a
// tree is made.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "routing/multicast/tree.h"

namespace smd::routing::inline multicast {

/// What one packet came to.
struct McDelivery {
  std::vector<McMember> twice;   ///< got it more than once
  std::vector<McMember> missed;  ///< receive, are connected to the sender, and got none
  bool loop = false;             ///< it came through one switch port more than once
  std::uint64_t strays = 0;      ///< copies to ports of nobody in the group
  std::uint64_t hops = 0;        ///< copies from switch to switch

  /// No member gets it twice, and it does not go round.
  bool sound() const { return !loop && twice.empty(); }
  bool whole() const { return sound() && missed.empty(); }
};

/// The packet that one member sends. Pure.
McDelivery deliver(const Topology& topology, const McTree& tree, std::span<const McMember> members,
                   const McMember& sender);

}  // namespace smd::routing::inline multicast
