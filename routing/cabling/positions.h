// SPDX-License-Identifier: Apache-2.0
#pragma once
// What port numbers say: cables are put in by a plan, and in it the same port of alike switches leads to
// the same place.

#include <cstddef>

#include "routing/ranking/switch_ranking.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline cabling {

/// By switch and rank: those that hang together through cables of ranks from that one downwards have the
/// same number.
class Pods {
 public:
  Pods(const Topology& topology, const SwitchRanking& ranking);
  /// `rank` at most the switch's own.
  std::uint32_t of(SwitchIndex s, std::int32_t rank) const;

 private:
  std::vector<std::int32_t> ranks_;                ///< ascending
  std::vector<std::vector<std::uint32_t>> parts_;  ///< by place in ranks_, by switch
};

struct PortOrder {
  std::size_t ends = 0, odd = 0;  ///< ends of cables, and those that are not where most of their kind are
  bool planned() const { return odd * 4 <= ends; }
};

/// Kinds of ends: a port of switches with the same switches above, by the switch it leads to; of switches of
/// a rank, by the kind of that; of switches above, by the pod below.
PortOrder port_order(const Topology& topology, const SwitchRanking& ranking);

}  // namespace smd::routing::inline cabling
