// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/guids.h"

#include "smd/sweep/end_ports.h"

namespace smd::sm::inline decisions {

TablePart<wire::GuidInfo> decide_guids(const Subnet& subnet, const GuidRequests& requests) {
  std::set<Guid> ports;
  for (const auto& [key, guids] : requests) ports.insert(key.first);
  const auto places = find_end_ports(subnet, ports);
  TablePart<wire::GuidInfo> part;
  for (const auto& [key, guids] : requests) {
    const auto place = places.find(key.first);
    if (place == places.end()) continue;
    const auto [index, port] = place->second;
    part.blocks.push_back({{subnet.nodes[index]->guid(), port}, key.second, {guids}});
  }
  return part;
}

}  // namespace smd::sm::inline decisions
