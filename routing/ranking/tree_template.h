// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tree as it was built, inferred from a damaged one.

#include <cstdint>
#include <span>
#include <vector>

#include "routing/ranking/switch_ranking.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline ranking {

/// An upper switch to which every member of a group should have cables.
struct UplinkSlot {
  SwitchIndex peer = 0;
  std::uint32_t cables = 1;  ///< as most members have
  friend bool operator==(const UplinkSlot&, const UplinkSlot&) = default;
};

/// Switches of one rank with mostly the same switches above them, such as the leaves of a pod. What half of a
/// group has, all of it should have.
struct SwitchGroup {
  std::vector<SwitchIndex> members;  ///< ascending
  std::vector<UplinkSlot> slots;     ///< ascending by peer
  /// Upper switches that other groups of the rank have and that are gone here: for each the number of slots
  /// before it. Ascending.
  std::vector<std::uint32_t> gone;
  /// Of the slots, the upper switches that another generation has too, if that is not nearly all: its members
  /// are reached by these only. Fewest first; each ascending.
  std::vector<std::vector<SwitchIndex>> shared;

  /// Number of upper switches in the undamaged tree.
  std::size_t width() const { return slots.size() + gone.size(); }
  /// Position of a slot among the upper switches of the undamaged tree.
  std::size_t place(std::size_t slot) const;
};

struct TreeTemplate {
  std::vector<SwitchGroup> groups;      ///< by their first member
  std::vector<std::uint32_t> group_of;  ///< by switch
  std::vector<std::uint32_t> place;     ///< by switch: its position among the members of its group

  /// The group of a switch.
  const SwitchGroup& of(SwitchIndex s) const { return groups[group_of[s]]; }
};

/// Infers the undamaged tree from the majority of each group. Requires the ranking of a tree. Deterministic.
TreeTemplate find_tree_template(const Topology& topology, const SwitchRanking& ranking);

}  // namespace smd::routing::inline ranking
