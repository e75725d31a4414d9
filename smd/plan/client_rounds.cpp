// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/client_rounds.h"

#include "smd/sweep/end_ports.h"

namespace smd::sm::inline planning {

Round reregister_round(const PlanInput& in, const std::set<Guid>& ports) {
  Round round;
  round.phase = Phase::client_reregister;
  for (const auto& [guid, place] : find_end_ports(in.subnet, ports)) {
    if (!desired_port_info(in, *in.subnet.nodes[place.node], place.port)) continue;
    round.ports.push_back({static_cast<NodeIndex>(place.node), place.port, PortState::no_change});
  }
  return round;
}

}  // namespace smd::sm::inline planning
