// SPDX-License-Identifier: Apache-2.0
#pragma once
// How wide a tree is at each of its levels.

#include <cstdint>
#include <functional>
#include <vector>

#include "mad/base/id.h"
#include "routing/ranking/switch_ranking.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline quality {

/// All switches of one level together, in units of `LinkWeight`.
struct LevelWidth {
  unsigned level = 0;  ///< 0: the bottom
  std::uint64_t switches = 0, hosts = 0;
  double below = 0;  ///< cables to hosts and to switches below
  double above = 0;  ///< to switches above; 0 at the top
  /// How many times as much comes from below as can go on upwards; 0 at the top.
  double oversubscription() const { return above > 0 ? below / above : 0; }
  friend bool operator==(const LevelWidth&, const LevelWidth&) = default;
};

/// What one cable at a switch's port counts: 1, or its bandwidth.
using LinkWeight = std::function<double(SwitchIndex, PortNum)>;

/// From the bottom to the top; nothing where the fabric is no tree. Aggregation nodes do not count.
std::vector<LevelWidth> level_widths(const Topology& topology, const SwitchRanking& ranking,
                                     const LinkWeight& weight);

}  // namespace smd::routing::inline quality
