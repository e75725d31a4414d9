// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/adaptive.h"

#include "mad/sim/faults.h"
#include "mad/sim/sma.h"
#include "mad/wire/vendor.h"

namespace smd::sim {
namespace {

constexpr std::uint8_t kUd = 1;  ///< of ByTransportDisable

/// A Set changes what an SM decides; what the switch can do stays.
wire::ArInfo changed(wire::ArInfo info, const wire::ArInfo& desired) {
  info.by_sl_enabled = desired.by_sl_enabled && info.by_sl_cap;
  info.no_fallback = desired.no_fallback;
  info.sub_groups_active = desired.sub_groups_active;
  info.rn_enabled = desired.rn_enabled;
  info.fr_enabled = desired.fr_enabled && info.fr_supported;
  info.enabled = desired.enabled;
  info.group_top = desired.group_top;
  info.by_sl_mask = desired.by_sl_mask;
  info.transports_off = desired.transports_off;
  info.ageing_us = desired.ageing_us;
  info.features1 = desired.features1;
  info.whbf_granularity = desired.whbf_granularity;
  info.hbf_by_sl_mask = desired.hbf_by_sl_mask;
  info.reserved6 = desired.reserved6;
  return info;
}

}  // namespace

/// What real switches can do is not known here: these values are made up.
AdaptiveTables fresh_adaptive() {
  wire::ArInfo info;
  info.by_sl_cap = true;
  info.by_transport_cap = true;
  info.group_cap = 2048;
  info.group_table_cap = 1;
  info.sub_groups_supported = 1;
  info.ar_version = 1;
  return {.info = info, .groups = {}};
}

const std::vector<PortNum>* adaptive_group(const AdaptiveTables& tables, Lid lid, Sl sl, bool datagram) {
  const auto& info = tables.info;
  if (!info.enabled || (datagram && (info.transports_off & kUd) != 0)) return nullptr;
  if (info.by_sl_enabled && ((info.by_sl_mask >> sl.value()) & 1U) == 0) return nullptr;
  const auto found = tables.groups.find(lid);
  return found == tables.groups.end() ? nullptr : &found->second;
}

Status ar_info(Request& request) {
  if (!request.node().is_switch() || !request.node().sw->adaptive) return kBadMethodAttribute;
  if (request.smp.modifier() != 0) return kInvalid;
  auto& info = request.node().sw->adaptive->info;
  const auto before = info;
  if (request.set) info = changed(info, asked<wire::ArInfo>(request));
  forget(request.node(), before, info);
  return answer(request, info);
}

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
