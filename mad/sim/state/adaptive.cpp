// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/state/adaptive.h"

namespace smd::sim {
namespace {

constexpr std::uint8_t kUd = 1;  ///< of ByTransportDisable

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

}  // namespace smd::sim
