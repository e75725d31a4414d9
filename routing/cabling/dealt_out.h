// SPDX-License-Identifier: Apache-2.0
#pragma once
// Uplinks that are dealt out to the switches above in turns, where their number does not divide.

#include <map>
#include <optional>
#include <vector>

#include "routing/cabling/health.h"
#include "routing/ranking/switch_ranking.h"
#include "routing/ranking/tree_template.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline cabling {

/// How the cables upwards of a switch differ from those of its group: the switches at their upper ends, once
/// a cable, ascending.
struct Deviation {
  std::vector<SwitchIndex> lacked, surplus;
  friend auto operator<=>(const Deviation&, const Deviation&) = default;
};

/// What of the deviations is no fault but how the tree was built, in groups of four or more of which three
/// quarters have equally many cables. Where more than half have some surplus, or all lack some: what others
/// deviate by as well; of a switch with fewer cables than the others, as much as it has too little is left
/// over. Where a quarter deviates in one way, and has as many as the others: that.
/// `deviations`: by switch, of those that deviate.
std::map<SwitchIndex, Deviation> cabled_in_turns(const std::map<SwitchIndex, Deviation>& deviations,
                                                 const TreeTemplate& tree_template);

/// Whether only two or three switches of one group deviate, which have no hosts, no surplus, and each lack
/// some. If all switches of their level have equally many cables upwards, and those above them equally many
/// downwards, or one more, no cable is missing: cabled_in_turns() cannot tell in so small a group.
bool dealt_to_few(const Topology& topology, const SwitchRanking& ranking, const TreeTemplate& tree_template,
                  const std::map<SwitchIndex, Deviation>& deviations);

/// The only switch of the group that has a cable upwards less than all others, if it has no hosts and the
/// group has four members or more: a cable is missing, whatever the design.
std::optional<SwitchIndex> find_one_cable_short(const Topology& topology, const SwitchRanking& ranking,
                                                const SwitchGroup& group);

Finding describe_one_cable_short(const HealthInput& in, const SwitchRanking& ranking,
                                 const SwitchGroup& group, SwitchIndex s);

/// Reports such switches, unless a fault names them, or a cable to them, already. What says that they differ
/// goes.
void check_one_cable_short(const HealthInput& in, const SwitchRanking& ranking,
                           const TreeTemplate& tree_template, Health& health);

}  // namespace smd::routing::inline cabling
