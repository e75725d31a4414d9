// SPDX-License-Identifier: Apache-2.0
// ARInfo of NVIDIA switches.
#include "mad/sim/agents/sma.h"
#include "mad/sim/state/adaptive.h"

namespace smd::sim {
namespace {

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

Status ar_info(Request& request) {
  if (!request.node().is_switch() || !request.node().sw->adaptive) return kBadMethodAttribute;
  if (request.smp.modifier() != 0) return kInvalid;
  auto& info = request.node().sw->adaptive->info;
  const auto before = info;
  if (request.set) info = changed(info, asked<wire::ArInfo>(request));
  forget(request.node(), before, info);
  return answer(request, info);
}

}  // namespace smd::sim
