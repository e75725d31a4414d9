// SPDX-License-Identifier: Apache-2.0
#include "routing/ranking/equivalent_by_ranking.h"

#include "routing/topology/equivalent_switches.h"

namespace smd::routing {

std::vector<SwitchIndex> find_twins(const Topology& topology, const Order& order) {
  auto twins = find_twins(topology);
  for (SwitchIndex s = 0; s < twins.size(); ++s) {
    const auto first = twins[s];
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto peer = topology.group(s, g).peer;
      if (order.up(s, peer) != order.up(first, peer)) twins[s] = s;
    }
  }
  return twins;
}

}  // namespace smd::routing
