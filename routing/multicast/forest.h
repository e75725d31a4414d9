// SPDX-License-Identifier: Apache-2.0
#pragma once
// The partial trees of one multicast LID while they grow: switches, cables between them, and which switches
// are connected.

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "routing/multicast/tree.h"

namespace smd::routing::inline multicast {

/// One direction of a cable: from a switch of the forest to the neighbour at the port.
struct McBranch {
  SwitchIndex to = kNoSwitch;
  PortNum port;  ///< at this end
  PortNum far;   ///< at the far end
};

class McForest {
 public:
  /// Empty. The topology must outlive it.
  explicit McForest(const Topology& topology) : topology_(topology) {}

  bool contains(SwitchIndex s) const { return parts_.contains(s); }  ///< in any of the trees
  /// Adds a switch as a tree of its own, unless it is in the forest.
  void add(SwitchIndex s) { parts_.try_emplace(s, s); }
  /// Adds the cable at the port. False, and nothing is done, if both ends are in one tree already.
  bool connect(SwitchIndex s, PortNum port);
  /// The representative of the tree of a switch, which must be in the forest.
  SwitchIndex part(SwitchIndex s) const;
  /// The cables of a switch in the forest.
  std::span<const McBranch> branches(SwitchIndex s) const;
  /// The switches in the forest, ascending.
  std::vector<SwitchIndex> switches() const;
  /// Removes end switches that are not in `keep`, repeatedly.
  void prune(const std::vector<bool>& keep);

 private:
  const Topology& topology_;
  mutable std::map<SwitchIndex, SwitchIndex> parts_;  ///< towards the representative
  std::map<SwitchIndex, std::vector<McBranch>> branches_;
};

}  // namespace smd::routing::inline multicast
