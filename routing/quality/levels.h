// SPDX-License-Identifier: Apache-2.0
#pragma once
// The bandwidth of a tree at each of its levels.

#include <cstdint>
#include <functional>
#include <vector>

#include "mad/base/id.h"
#include "routing/ranking/switch_ranking.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline quality {

/// The sum over the switches of one level, in units of `LinkWeight`.
struct LevelWidth {
  unsigned level = 0;  ///< 0: the bottom
  std::uint64_t switches = 0, hosts = 0;
  double below = 0;  ///< cables to hosts and to switches below
  double above = 0;  ///< to switches above; 0 at the top
  /// Ratio of the bandwidth from below to that upwards; 0 at the top.
  double oversubscription() const { return above > 0 ? below / above : 0; }
  friend bool operator==(const LevelWidth&, const LevelWidth&) = default;
};

/// Weight of the cable at a switch's port: 1, or its bandwidth.
using LinkWeight = std::function<double(SwitchIndex, PortNum)>;

/// From bottom to top; empty if the fabric is not a tree. Aggregation nodes do not count.
std::vector<LevelWidth> level_widths(const Topology& topology, const SwitchRanking& ranking,
                                     const LinkWeight& weight);

}  // namespace smd::routing::inline quality
