// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which end of a link is up (up*/down* routing: Schroeder et al., Autonet, 1991). The ranking is a total
// order of the switches, so paths that go up first and then down never close a cycle of channels. The quality
// of the paths depends on the ranking.

#include <cstdint>
#include <span>
#include <vector>

#include "mad/base/id.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline ranking {

struct SwitchRanking {
  /// By SwitchIndex: distance from the roots, smaller is higher up; may be negative.
  std::vector<std::int32_t> rank;
  /// By SwitchIndex: position in the order. A step to a smaller position is a step up. Sorted by (rank,
  /// GUID), except after reroot_at_leaves() and reorient().
  std::vector<std::uint32_t> position;
  /// A tree, whole or damaged: nearly all hosts are at the bottom.
  bool tree = false;

  /// The step between these neighbours is one up.
  bool up(SwitchIndex from, SwitchIndex to) const { return position[to] < position[from]; }
};

/// Ranks by distance in hops from the roots. A component without a root gets its first switch as root.
SwitchRanking rank_from_roots(const Topology& topology, std::span<const SwitchIndex> roots);

/// Finds the levels of a tree with any number of levels: from the leaves upwards, or, if leaves are at
/// different heights, from the top downwards. The top are nearest_to_leaves(). Hosts
/// on inner switches and missing links and switches do not change the levels. For other fabrics it returns a
/// ranking with `tree` false.
SwitchRanking find_tree(const Topology& topology);

/// Ranks by distance from the nearest host: the farther, the higher up.
SwitchRanking rank_from_leaves(const Topology& topology);

/// Re-roots the tree at `leaves`: each leaf becomes a root, followed by its ancestors, nearest first. Up/down
/// paths of the tree stay legal unless they turn among these ancestors, and two inner switches joined only by
/// a down/up path gain a path through the leaf. `rank` is unchanged.
SwitchRanking reroot_at_leaves(const Topology& topology, const SwitchRanking& tree,
                               std::span<const SwitchIndex> leaves);

/// A few different rankings with one root per component, in each of which every connected pair of switches
/// has a legal path. Never empty.
std::vector<SwitchRanking> single_root_rankings(const Topology& topology);

/// Switches with at least a quarter of the usual (median over hosts) number of hosts: certainly leaves.
/// Ascending.
std::vector<SwitchIndex> full_leaves(const Topology& topology);

/// Cables of the switch to switches of smaller rank.
std::size_t cables_upwards(const Topology& topology, const SwitchRanking& ranking, SwitchIndex s);

}  // namespace smd::routing::inline ranking
