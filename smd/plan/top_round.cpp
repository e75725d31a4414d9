// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/top_round.h"

namespace smd::sm::inline planning {

Round top_round(const PlanInput& in) {
  Round round;
  round.phase = Phase::switch_info;
  for (NodeIndex i = 0; i < in.subnet.nodes.size(); ++i) {
    const auto& node = *in.subnet.nodes[i];
    const auto desired = desired_switch_info(in, node);
    if (desired && desired->multicast_fdb_top != node.switch_info->multicast_fdb_top)
      round.switch_infos.push_back(i);
  }
  return round;
}

}  // namespace smd::sm::inline planning
