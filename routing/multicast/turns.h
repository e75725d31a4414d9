// SPDX-License-Identifier: Apache-2.0
#pragma once
// The proof that multicast trees and the unicast paths of layer 0 close no cycle of channels together. A
// multicast packet waits at each switch for all branches at once, so the channel that it came in by waits for
// the channel of every branch; whichever member sends.

#include <cstdint>
#include <memory>

#include "routing/multicast/tree.h"
#include "routing/ranking/switch_ranking.h"
#include "routing/routes.h"
#include "routing/topology/context.h"
#include "routing/verify/report.h"

namespace smd::routing::inline multicast {

/// What keeps the trees free of cycles.
enum class McRule : std::uint8_t {
  none,      ///< nothing: trees are not proven
  ranking,   ///< no tree goes up again after it went down, by the ranking
  spanning,  ///< all trees are parts of one spanning tree of each component
};

/// By which rule trees are to grow. Immutable.
struct McProof {
  McRule rule = McRule::none;
  /// With `spanning`: the topology with the cables of the spanning trees only, and the same indexes and
  /// ports; and a ranking of it by which trees can be grown in it.
  Topology cables;
  SwitchRanking ranking;
};

/// The rule `ranking` if the unicast paths of layer 0 and all turns of up/down paths together close no cycle.
/// Else, or if `without_ranking`, one spanning tree of each component, both directions of whose cables close
/// none with them. `found`: the verification of the routes. If the paths of all switches close cycles by
/// themselves, those between end ports count.
McProof prove_trees(const RoutingContext& in, const Routes& routes, const Verification& found,
                    const SwitchRanking& ranking, bool without_ranking = false);

/// Whether a tree keeps to the rule, and so is proven. A tree within one switch always is. `ranking`: that of
/// prove_trees(). O(tree).
bool keeps_to(const McProof& proof, const Topology& topology, const SwitchRanking& ranking,
              const McTree& tree);

}  // namespace smd::routing::inline multicast
