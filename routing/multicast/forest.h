// SPDX-License-Identifier: Apache-2.0
#pragma once
// Trees of one multicast LID while they grow together: switches, the cables between them, and which of them
// are connected already.

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "routing/multicast/tree.h"

namespace smd::routing::inline multicast {

/// Half a cable: from a switch of the forest to the neighbour that the port leads to.
struct McBranch {
  SwitchIndex to = kNoSwitch;
  PortNum port;  ///< at this end
  PortNum far;   ///< at the other
};

class McForest {
 public:
  explicit McForest(const Topology& topology) : topology_(topology) {}

  bool contains(SwitchIndex s) const { return parts_.contains(s); }
  void add(SwitchIndex s) { parts_.try_emplace(s, s); }
  /// False: both ends are in one tree already, and nothing is done.
  bool connect(SwitchIndex s, PortNum port);
  /// The representative of a switch's tree; the switch is in the forest.
  SwitchIndex part(SwitchIndex s) const;
  std::span<const McBranch> branches(SwitchIndex s) const;
  /// Ascending.
  std::vector<SwitchIndex> switches() const;
  /// Takes off, again and again, switches at the ends of branches that `keep` does not hold on to.
  void prune(const std::vector<bool>& keep);

 private:
  const Topology& topology_;
  mutable std::map<SwitchIndex, SwitchIndex> parts_;  ///< towards the representative
  std::map<SwitchIndex, std::vector<McBranch>> branches_;
};

}  // namespace smd::routing::inline multicast
