// SPDX-License-Identifier: Apache-2.0
#pragma once
// In which order destinations take their turns at the ports that could lead to them.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "routing/engines/port_selection.h"
#include "routing/ranking/switch_ranking.h"
#include "routing/ranking/tree_template.h"
#include "routing/topology/lids.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline engines {

/// LIDs next to each other, with numbers next to each other, of ports on one switch.
struct LidRun {
  std::uint16_t lid = 0;
  std::uint16_t length = 0;
  std::uint32_t number = 0;  ///< of the first
  SwitchIndex destination = 0;
  bool follows = false;    ///< LID and number go on where the run before ends
  bool of_switch = false;  ///< the switch's own LID
};

/// All switches by the first LID of what hangs on them, or by their own where that is nothing: columns in
/// this order are next to each other where LIDs are.
std::vector<SwitchIndex> switches_by_lid(const Topology& topology, const LidMap& lids);

/// Hop count between two switches.
using HopCount = std::function<unsigned(SwitchIndex, SwitchIndex)>;

/// Leaves such that those with near common ancestors stand together, at every level of a tree.
std::vector<SwitchIndex> leaves_by_nearness(const Topology& topology, const HopCount& hops);

enum class Numbering : std::uint8_t {
  dense,   ///< one after the other
  padded,  ///< as if each leaf had as many end ports of a kind as the fullest: the n-th of each goes alike
};

/// All LIDs that lead to a switch, by LID. End ports are numbered kind by kind (compute, I/O, routers,
/// aggregation nodes, and each rail of those with several ports: each kind spreads evenly by itself), leaf by
/// leaf in the given order, port by port; a range of LIDs counts on from its port's number, so that its paths
/// part.
std::vector<LidRun> number_lids(const Topology& topology, const LidMap& lids,
                                std::span<const SwitchIndex> leaf_order,
                                Numbering numbering = Numbering::dense);

/// For each switch which destinations it gets by one way up from each of its lower neighbours, in the tree
/// that the fabric was built as: it must take turns among those, or all of them would leave by one port
/// (Zahavi's d-mod-k).
std::vector<DmodkIndex> dmodk_indices(const Topology& topology, const SwitchRanking& order,
                                      const TreeTemplate& tree_template);

}  // namespace smd::routing::inline engines
