// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds the ports at which a missing cable should be.

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "routing/cabling/positions.h"
#include "routing/ranking/tree_template.h"

namespace smd::routing::inline cabling {

/// Whether nothing is connected at the port.
bool is_unlinked(const Topology& topology, SwitchIndex s, PortNum port);

/// The port of `s` without a link, and not `taken`, that most use; PortNum{}: there is none. `usual`: how
/// many use each.
PortNum most_usual_unlinked(const Topology& topology, SwitchIndex s,
                            const std::map<PortNum, std::size_t>& usual,
                            const std::vector<PortNum>& taken = {});

class FreePorts {
 public:
  /// References must outlive it.
  FreePorts(const Topology& topology, const SwitchRanking& ranking, const TreeTemplate& tree_template)
      : topology_(topology), ranking_(ranking), template_(tree_template), pods_(topology, ranking) {}

  /// The ports by which the other switches of the group lead to `peer`, and how many use each.
  std::map<PortNum, unsigned> usual_ports(SwitchIndex s, SwitchIndex peer) const;
  /// Whether nothing is connected at the port and it was not taken. True for ports beyond the last one: a
  /// file may know of a switch's ports only those in use.
  bool free(SwitchIndex s, PortNum port) const;

  /// The port that the others of the group use, if it is free here; else the only free one.
  std::optional<PortNum> lower(SwitchIndex s, SwitchIndex peer) const;
  /// The port by which most others of the rank of `peer` lead to the pod of `s`, if it is free; else the only
  /// free one.
  std::optional<PortNum> upper(SwitchIndex s, SwitchIndex peer) const;
  /// The only switch above the level of `s` that has no cable to its pod.
  std::optional<SwitchIndex> not_reached(SwitchIndex s) const;
  /// The port is not returned again.
  void take(SwitchIndex s, PortNum port) { taken_.insert({s, port}); }

  /// A port without a link at which most others of the rank have an uplink, and its peer if most have the
  /// same there, else kNoSwitch.
  struct Empty {
    PortNum port;
    SwitchIndex peer = kNoSwitch;
  };
  /// Such ports of a switch, ascending.
  std::vector<Empty> empty(SwitchIndex s) const;

 private:
  std::optional<PortNum> only_free(SwitchIndex s) const;

  const Topology& topology_;
  const SwitchRanking& ranking_;
  const TreeTemplate& template_;
  Pods pods_;
  std::set<std::pair<SwitchIndex, PortNum>> taken_;
};

}  // namespace smd::routing::inline cabling
