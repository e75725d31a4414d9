// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which destinations reach a switch from below: the numbers that its round robin runs over.

#include <vector>

#include "routing/engines/port_selection.h"
#include "routing/ranking/switch_ranking.h"
#include "routing/ranking/tree_template.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline engines {

/// By switch the destinations that most of the lower switches send to it in the undamaged tree. Round robin
/// must run over these: over all destinations they would all leave by one port (Zahavi, d-mod-k). Where
/// several ways lead from a switch down to a leaf, such as cores cabled to all middle switches, it receives
/// several residues.
std::vector<DmodkIndex> dmodk_indices(const Topology& topology, const SwitchRanking& order,
                                      const TreeTemplate& tree_template);

}  // namespace smd::routing::inline engines
