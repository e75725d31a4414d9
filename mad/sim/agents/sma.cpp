// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/agents/sma.h"

#include <algorithm>
#include <limits>

#include "mad/sim/agents/traps.h"
#include "mad/wire/attributes.h"
#include "mad/wire/modifier.h"

namespace smd::sim {
namespace {

Status dispatch(Request& request) {
  switch (request.smp.attribute()) {
    case wire::NodeInfo::kAttribute:
      return node_info(request);
    case wire::NodeDescription::kAttribute:
      return node_description(request);
    case wire::SwitchInfo::kAttribute:
      return switch_info(request);
    case wire::GuidInfo::kAttribute:
      return guid_info(request);
    case wire::PortInfo::kAttribute:
      return port_info(request);
    case wire::PKeyTable::kAttribute:
      return p_key_table(request);
    case wire::SlToVl::kAttribute:
      return sl_to_vl_table(request);
    case wire::VlArbitration::kAttribute:
      return vl_arbitration(request);
    case wire::LinearForwardingTable::kAttribute:
      return linear_table(request);
    case wire::MulticastForwardingTable::kAttribute:
      return multicast_table(request);
    case wire::PortInfoExtended::kAttribute:
      return port_info_extended(request);
    case wire::MlnxExtPortInfo::kAttribute:
      return mlnx_ext_port_info(request);
    case wire::ArInfo::kAttribute:
      return ar_info(request);
    default:
      return kBadMethodAttribute;
  }
}

/// A fault of the node that answers instead of it.
std::optional<Status> refused(const Node& node, std::uint16_t attribute, bool set) {
  if (!node.faults) return std::nullopt;
  for (const auto& refusal : node.faults->refusals) {
    const bool meant = refusal.attribute == 0 || refusal.attribute == attribute;
    if (meant && (set || !refusal.sets_only)) return refusal.status;
  }
  return std::nullopt;
}

bool answers(const Node& node, std::uint16_t attribute, std::uint32_t modifier) {
  if (!node.faults) return true;
  const bool extended = attribute == wire::PortInfo::kAttribute && (modifier & wire::kExtendedSpeeds) != 0;
  if (extended && node.faults->ignores_extended_speeds) return false;
  if (node.faults->answers_only.empty()) return true;
  return std::ranges::find(node.faults->answers_only, attribute) != node.faults->answers_only.end();
}

Status status_of(State& state, PortIndex at, wire::Smp& smp) {
  if (smp.base_version() != 1 || smp.class_version() != 1) return kBadVersion;
  const auto method = smp.method();
  if (method != wire::Method::get && method != wire::Method::set) return kBadMethod;
  Request request{.state = state, .at = at, .smp = smp, .set = method == wire::Method::set};
  if (const auto status = refused(request.node(), smp.attribute(), request.set)) return *status;
  return dispatch(request);
}

std::uint64_t nanoseconds(TimePoint time) {
  return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

}  // namespace

bool serve(State& state, PortIndex at, wire::Smp& smp) {
  const auto& node = state.node_of(at);
  const auto end_port = node.is_switch() ? node.first_port : at;
  if (!m_key_allows(state, end_port, smp)) {
    ++state.drops.m_key;
    return false;
  }
  if (smp.method() == wire::Method::trap_repress) {
    repress(state, end_port, smp);
    return false;
  }
  if (!answers(node, smp.attribute(), smp.modifier())) {
    ++state.drops.silent;
    return false;
  }
  const auto status = status_of(state, at, smp);
  if (state.on_set && smp.method() == wire::Method::set) {
    state.on_set({.at = at, .attribute = smp.attribute(), .status = status, .modifier = smp.modifier()});
  }
  smp.set_method(wire::Method::get_resp);
  smp.set_status(status);
  if (smp.is_directed()) smp.set_returning(true);
  return true;
}

// As qib_mad.c of Linux (check_mkey): a Set or TrapRepress needs the key whenever there is one, a Get from
// protection level 2 on. A wrong one starts the lease; at its end the protection level is 0.
bool m_key_allows(State& state, PortIndex index, const wire::Smp& smp) {
  auto& port = state.ports[index];
  auto& info = port.info;
  if (info.m_key == 0) return true;
  const bool lease_runs = port.tables && port.tables->m_key_lease_end != 0;
  if (lease_runs && nanoseconds(state.now) >= port.tables->m_key_lease_end) {
    port.tables->m_key_lease_end = 0;
    info.m_key_protect = 0;
  }
  if (info.m_key == smp.m_key()) {
    if (port.tables) port.tables->m_key_lease_end = 0;
    return true;
  }
  if (smp.method() == wire::Method::get && info.m_key_protect < 2) return true;
  if (info.m_key_violations != std::numeric_limits<std::uint16_t>::max()) ++info.m_key_violations;
  if (info.m_key_lease_period != 0) {
    if (!port.tables) port.tables = std::make_unique<PortTables>();
    auto& end = port.tables->m_key_lease_end;
    if (end == 0) end = nanoseconds(state.now + std::chrono::seconds(info.m_key_lease_period));
  }
  raise_bad_m_key(state, index, smp);
  return false;
}

}  // namespace smd::sim
