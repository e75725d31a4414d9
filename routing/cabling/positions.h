// SPDX-License-Identifier: Apache-2.0
#pragma once
// Evidence from port numbers: cabling follows a plan in which the same port of similar switches leads to the
// same place.

#include <cstddef>

#include "routing/ranking/switch_ranking.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline cabling {

/// By switch and rank: switches connected through cables of that rank and below have the same number.
class Pods {
 public:
  /// By the ranks of `ranking`; O(ranks * cables).
  Pods(const Topology& topology, const SwitchRanking& ranking);
  /// `rank` must not be greater than that of the switch.
  std::uint32_t of(SwitchIndex s, std::int32_t rank) const;

 private:
  std::vector<std::int32_t> ranks_;                ///< ascending
  std::vector<std::vector<std::uint32_t>> parts_;  ///< by index in ranks_, then by switch
};

struct PortOrder {
  std::size_t ends = 0, odd = 0;  ///< ends of cables; ends that differ from most of their kind
  /// At most a quarter is odd: ports were given out by a plan, and one that differs may be a fault.
  bool planned() const { return odd * 4 <= ends; }
};

/// Counts ends by kind: a port of switches with the same uplinks, by the upper switch; a port of a rank, by
/// the kind of the upper switch; a port of upper switches, by the pod below.
PortOrder port_order(const Topology& topology, const SwitchRanking& ranking);

}  // namespace smd::routing::inline cabling
