// SPDX-License-Identifier: Apache-2.0
// Adaptive routing changed behind the SM's back.
#include "mad/sim/fabric/faults.h"
#include "mad/sim/state/adaptive.h"
#include "mad/wire/vendor.h"

namespace smd::sim {

bool Faults::adaptive_routing(std::string_view node, Adaptive does) {
  const auto index = find_node(state_, node);
  if (!index || !state_.nodes[*index].is_switch() || !wire::is_nvidia(state_.nodes[*index].vendor_id))
    return false;
  auto& tables = state_.nodes[*index].sw->adaptive;
  if (does == Adaptive::none) {
    tables.reset();
    return true;
  }
  if (!tables) tables = std::make_unique<AdaptiveTables>(fresh_adaptive());
  tables->info.enabled = does == Adaptive::on;
  return true;
}

bool Faults::adaptive_group(std::string_view node, Lid lid, std::vector<PortNum> ports) {
  const auto index = find_node(state_, node);
  if (!index || !state_.nodes[*index].is_switch() || !state_.nodes[*index].sw->adaptive) return false;
  const auto& named = state_.nodes[*index];
  for (const auto port : ports) {
    if (port == PortNum{0} || port.value() > named.ports) return false;
  }
  auto& groups = named.sw->adaptive->groups;
  if (ports.empty()) {
    groups.erase(lid);
  } else {
    groups[lid] = std::move(ports);
  }
  return true;
}

}  // namespace smd::sim
