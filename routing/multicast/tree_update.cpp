// SPDX-License-Identifier: Apache-2.0
#include "routing/multicast/tree_update.h"

#include <algorithm>
#include <set>
#include <utility>

#include "routing/multicast/forest.h"

namespace smd::routing::inline multicast {
namespace {

/// Adds the cables of a tree; false if one closes a loop. `seen` holds both ends of the cables added, so that
/// the second end of a cable is not taken for another cable.
bool add_cables(const Topology& topology, const McTree& tree, McForest& forest,
                std::set<std::pair<SwitchIndex, unsigned>>& seen) {
  for (const auto& mask : tree) {
    if (mask.sw >= topology.switches()) continue;
    for (unsigned p = 1; p <= topology.ports(mask.sw); ++p) {
      const PortNum port{static_cast<std::uint8_t>(p)};
      const auto far = mask.ports[p] ? topology.peer(mask.sw, port) : PortPeer{};
      if (far.sw == kNoSwitch || !seen.insert({mask.sw, p}).second) continue;
      seen.insert({far.sw, far.port.value()});
      if (!forest.connect(mask.sw, port)) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<McTree> intermediate_tree(const Topology& topology, const McTree& installed,
                                        const McTree& target) {
  McForest forest(topology);
  std::set<std::pair<SwitchIndex, unsigned>> seen;
  if (add_cables(topology, installed, forest, seen) && add_cables(topology, target, forest, seen)) return {};
  McTree both;
  for (const auto& mask : installed) {
    const auto found = std::ranges::lower_bound(target, mask.sw, {}, &McMask::sw);
    if (found == target.end() || found->sw != mask.sw) continue;
    const auto ports = mask.ports & found->ports;
    if (ports.any()) both.push_back({mask.sw, ports});
  }
  return both;
}

}  // namespace smd::routing::inline multicast
