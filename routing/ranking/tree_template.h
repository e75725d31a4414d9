// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a tree was built as, seen through what is missing of it.

#include <cstdint>
#include <span>
#include <vector>

#include "routing/ranking/switch_ranking.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline ranking {

/// A switch above that every member of a family should have cables to.
struct UplinkSlot {
  SwitchIndex peer = 0;
  std::uint32_t cables = 1;  ///< as most members have
  friend bool operator==(const UplinkSlot&, const UplinkSlot&) = default;
};

/// Switches of one rank that have mostly the same switches above them: the leaves of a pod, say. What half of
/// a family has, all of it should have.
struct SwitchGroup {
  std::vector<SwitchIndex> members;  ///< ascending
  std::vector<UplinkSlot> slots;     ///< ascending by peer
  /// Switches above that other families of the rank have and that are gone here: for each how many slots
  /// stand before it. Ascending.
  std::vector<std::uint32_t> gone;

  /// Switches above in the whole tree.
  std::size_t width() const { return slots.size() + gone.size(); }
  /// Place of a slot among all of those.
  std::size_t place(std::size_t slot) const;
};

struct TreeTemplate {
  std::vector<SwitchGroup> groups;      ///< by their first member
  std::vector<std::uint32_t> group_of;  ///< by switch
  std::vector<std::uint32_t> place;     ///< of each switch among its family's members

  const SwitchGroup& of(SwitchIndex s) const { return groups[group_of[s]]; }
};

TreeTemplate find_tree_template(const Topology& topology, const SwitchRanking& ranking);

}  // namespace smd::routing::inline ranking
