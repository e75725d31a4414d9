// SPDX-License-Identifier: Apache-2.0
#pragma once
// The ports at which a cable that is missing should be.

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "routing/cabling/positions.h"
#include "routing/ranking/tree_template.h"

namespace smd::routing::inline cabling {

class FreePorts {
 public:
  FreePorts(const Topology& topology, const SwitchRanking& ranking, const TreeTemplate& tree_template)
      : topology_(topology), ranking_(ranking), template_(tree_template), pods_(topology, ranking) {}

  /// By which ports the others of its family go there, and how many of them.
  std::map<PortNum, unsigned> usual_ports(SwitchIndex s, SwitchIndex peer) const;
  bool free(SwitchIndex s, PortNum port) const;

  /// The port that the others of the family use if it is free here, else the only free one.
  std::optional<PortNum> lower(SwitchIndex s, SwitchIndex peer) const;
  /// The port by which most others of the rank of `peer` go to the pod of `s`, else the only free one.
  std::optional<PortNum> upper(SwitchIndex s, SwitchIndex peer) const;
  /// Is not offered again.
  void take(SwitchIndex s, PortNum port) { taken_.insert({s, port}); }

  /// A port that leads to nothing where most others of the rank have a cable upwards; and what those have
  /// there, if it is the same for most of them, else kNoSwitch.
  struct Empty {
    PortNum port;
    SwitchIndex peer = kNoSwitch;
  };
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
