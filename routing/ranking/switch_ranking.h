// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which end of a link is up. A total order of all switches: no cycle of channels can be closed by paths that
// go up first and down then, whatever the order is; how good the paths are depends on it.

#include <cstdint>
#include <span>
#include <vector>

#include "mad/base/id.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline ranking {

struct SwitchRanking {
  /// Distance from the roots, smaller is higher up; may be negative. By SwitchIndex.
  std::vector<std::int32_t> rank;
  /// The order itself, by (rank, GUID) unless it is reroot_at_leaves(): a step to a smaller position is a
  /// step up.
  std::vector<std::uint32_t> position;
  /// Nearly all hosts hang at the bottom: a tree, whole or damaged.
  bool tree = false;

  bool up(SwitchIndex from, SwitchIndex to) const { return position[to] < position[from]; }
};

/// Ranks by distance from the roots; a part of the fabric that holds no root gets its first switch.
SwitchRanking rank_from_roots(const Topology& topology, std::span<const SwitchIndex> roots);

/// Finds the levels of a tree of any number of them: from the leaves upwards, and where leaves hang at
/// different heights from the top downwards, the top being the switches that have nearly all leaves within
/// the shortest distance. Hosts on inner switches and missing links and switches do not move them. On other
/// fabrics the result is an order too, with `tree` false.
SwitchRanking find_tree(const Topology& topology);

/// The farther from the nearest host, the higher up.
SwitchRanking rank_from_leaves(const Topology& topology);

/// The tree, hung up by these leaves: each of them stands above everything, then what is above it in the
/// tree, the nearest first. All that goes up and down in the tree does so here unless it goes up and down
/// among those, and two inner switches that have only a way down and up again in the tree have one through
/// the leaf. Ranks are those of the tree.
SwitchRanking reroot_at_leaves(const Topology& topology, const SwitchRanking& tree,
                               std::span<const SwitchIndex> leaves);

/// Orders with one root in each part of the fabric: every pair of switches has a legal path in each of them.
/// A few, of different kinds; never empty.
std::vector<SwitchRanking> single_root_rankings(const Topology& topology);

/// Switches with so many hosts that they are certainly leaves: at least a quarter of what is usual.
std::vector<SwitchIndex> full_leaves(const Topology& topology);

}  // namespace smd::routing::inline ranking
