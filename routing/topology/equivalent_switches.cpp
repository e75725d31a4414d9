// SPDX-License-Identifier: Apache-2.0
#include "routing/topology/equivalent_switches.h"

#include <map>

namespace smd::routing::inline topology {

std::vector<SwitchIndex> find_equivalent_switches(const Topology& topology) {
  std::vector<SwitchIndex> first(topology.switches());
  std::map<std::vector<SwitchIndex>, SwitchIndex> by_cabling;
  std::vector<SwitchIndex> cabling;
  for (SwitchIndex s = 0; s < first.size(); ++s) {
    cabling.clear();
    bool to_itself = false;
    for (unsigned p = 1; p <= topology.ports(s); ++p) {
      const auto peer = topology.peer(s, PortNum{static_cast<std::uint8_t>(p)}).sw;
      cabling.push_back(peer);
      to_itself = to_itself || peer == s;
    }
    first[s] = to_itself ? s : by_cabling.try_emplace(cabling, s).first->second;
  }
  return first;
}

}  // namespace smd::routing::inline topology
