// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which pairs of switches have routes at all: tables may leave some out by rule.

#include <vector>

#include "mad/base/id.h"
#include "routing/repair/guid_layers.h"
#include "routing/routes.h"
#include "routing/topology/topology.h"
#include "smd/decide/decided.h"

namespace smd::sm::inline decisions {

class RoutedPairs {
 public:
  /// `part` has a topology and a LID map, and outlives this. O(LIDs).
  explicit RoutedPairs(const RoutePart& part);
  /// Whether one of the two has an entry for a LID at the other. O(LIDs at both).
  bool operator()(routing::SwitchIndex a, routing::SwitchIndex b) const;
  /// Whether hosts are at both, so that their connections have the SL of the pair. O(1).
  bool has_hosts(routing::SwitchIndex a, routing::SwitchIndex b) const { return hosts_[a] && hosts_[b]; }

 private:
  const RoutePart& part_;
  std::vector<std::vector<Lid>> lids_;  ///< by switch
  std::vector<bool> hosts_;
};

/// `layers` of the topology of `part` without those of pairs that have no route and no layer in `known`
/// (null: none has): kNoLayer.
routing::PairLayers without_unrouted(const RoutePart& part, routing::PairLayers layers,
                                     const routing::GuidLayers* known);

}  // namespace smd::sm::inline decisions
