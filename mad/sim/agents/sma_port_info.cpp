// SPDX-License-Identifier: Apache-2.0
// PortInfo, PortInfoExtended and MlnxExtPortInfo. What a Set does with each field follows qib_mad.c of Linux
// (subn_set_portinfo), an agent that was read, where it says something.
#include "mad/sim/agents/links.h"
#include "mad/sim/agents/sma.h"
#include "mad/sim/state/rates.h"
#include "mad/wire/capability.h"
#include "mad/wire/modifier.h"
#include "mad/wire/vendor.h"

namespace smd::sim {
namespace {

using wire::kExtendedSpeeds;

/// A Set's value of one Enabled field: `nothing` leaves it, `all` is what is supported.
struct Enable {
  unsigned desired, nothing, all, supported;
};

bool enable(std::uint8_t& field, const Enable& value) {
  if (value.desired == value.nothing) return true;
  const unsigned next = value.desired == value.all ? value.supported : value.desired;
  if ((next & ~value.supported) != 0) return false;
  field = static_cast<std::uint8_t>(next);
  return true;
}

bool set_rates(wire::PortInfo& info, const wire::PortInfo& desired, bool extended, bool shows_off) {
  bool good =
      enable(info.link_width_enabled, {desired.link_width_enabled, 0, 255, info.link_width_supported});
  good =
      enable(info.link_speed_enabled, {desired.link_speed_enabled, 0, 15, info.link_speed_supported}) && good;
  if (!extended) return good;  // an SM that does not know them cannot change them
  // 30 switches extended speeds off, 31 is all that is supported (IBA's values, as libibmad prints them).
  if (desired.link_speed_ext_enabled == kNoExtendedSpeed) {
    info.link_speed_ext_enabled = shows_off && info.link_speed_ext_supported != 0 ? kNoExtendedSpeed : 0;
  } else {
    good = enable(info.link_speed_ext_enabled,
                  {desired.link_speed_ext_enabled, 0, 31, info.link_speed_ext_supported}) &&
           good;
  }
  if (desired.link_speed_ext2_enabled == kNoExtendedSpeed2) {  // as 30 there, which has two bits more
    info.link_speed_ext2_enabled = shows_off && info.link_speed_ext2_supported != 0 ? kNoExtendedSpeed2 : 0;
    return good;
  }
  return enable(info.link_speed_ext2_enabled,
                {desired.link_speed_ext2_enabled, 0, 7, info.link_speed_ext2_supported}) &&
         good;
}

/// LID, keys and what else only end ports have.
bool set_end_port(Port& port, const wire::PortInfo& desired) {
  auto& info = port.info;
  bool good = true;
  info.m_key = desired.m_key;
  info.m_key_protect = desired.m_key_protect;
  info.m_key_lease_period = desired.m_key_lease_period;
  info.gid_prefix = desired.gid_prefix;
  if (desired.lid.unicast()) {
    info.lid = desired.lid;
    info.lmc = desired.lmc;
  } else {
    good = false;
  }
  if (desired.sm_lid.unicast()) {
    info.sm_lid = desired.sm_lid;
    info.master_sm_sl = desired.master_sm_sl;
  } else {
    good = false;
  }
  info.subnet_timeout = desired.subnet_timeout;
  if (desired.m_key_violations == 0) info.m_key_violations = 0;
  if (desired.p_key_violations == 0) info.p_key_violations = 0;
  if (desired.q_key_violations == 0) info.q_key_violations = 0;
  if (desired.client_reregister) ++port.reregisters;
  return good;
}

bool set_link(wire::PortInfo& info, const wire::PortInfo& desired) {
  bool good = true;
  if (desired.neighbor_mtu >= Mtu::m256 && desired.neighbor_mtu <= info.mtu_cap) {
    info.neighbor_mtu = desired.neighbor_mtu;
  } else {
    good = desired.neighbor_mtu == Mtu::none;
  }
  if (desired.operational_vls > info.vl_cap) {
    good = false;
  } else if (desired.operational_vls != 0) {
    info.operational_vls = desired.operational_vls;
  }
  const auto down_default = desired.link_down_default;
  if (down_default == PhysState::sleep || down_default == PhysState::polling) {
    info.link_down_default = down_default;
  } else {
    good = good && down_default == PhysState::no_change;
  }
  info.init_type = desired.init_type;
  info.vl_high_limit = desired.vl_high_limit;
  info.vl_stall_count = desired.vl_stall_count;
  info.hoq_life = desired.hoq_life;
  info.partition_enforce_in = desired.partition_enforce_in;
  info.partition_enforce_out = desired.partition_enforce_out;
  info.filter_raw_in = desired.filter_raw_in;
  info.filter_raw_out = desired.filter_raw_out;
  info.multicast_pkey_trap_suppression = desired.multicast_pkey_trap_suppression;
  info.local_phy_errors = desired.local_phy_errors;
  info.overrun_errors = desired.overrun_errors;
  return good;
}

/// Without a link there is no Down. A base port 0 is always Active; an enhanced one goes through the states.
bool set_port0_state(wire::PortInfo& info, const wire::PortInfo& desired, bool enhanced) {
  const auto to = desired.port_state;
  if (to == PortState::down || desired.phys_state != PhysState::no_change) return false;
  if (!enhanced || to == PortState::no_change || to == info.port_state) return true;
  const bool next = (to == PortState::armed && info.port_state == PortState::init) ||
                    (to == PortState::active && info.port_state == PortState::armed);
  if (next) info.port_state = to;
  return next;
}

Status set_port_info(Request& request, PortIndex index, bool extended) {
  auto& port = request.state.ports[index];
  const auto desired = asked<wire::PortInfo>(request);
  const auto before = port.info;
  const bool management = request.node().is_switch() && port.number == PortNum{0};
  bool good = true;
  if (management || !request.node().is_switch()) good = set_end_port(port, desired);
  good = set_link(port.info, desired) && good;
  if (!management)
    good = set_rates(port.info, desired, extended, request.state.options.firmware.shows_speed_off) && good;
  forget(request.node(), before, port.info);
  if (request.state.options.firmware.vls_at_once || port.info.port_state == PortState::init)
    port.vls = port.info.operational_vls;
  if (management) {
    const bool enhanced = request.node().sw->info.enhanced_port0;
    good = set_port0_state(port.info, desired, enhanced) && good;
    return good ? kGood : kInvalid;
  }
  // Last, so that a link that trains again does so with the values set before.
  good = set_port_state(request.state, index, desired.port_state, desired.phys_state) && good;
  return good ? kGood : kInvalid;
}

/// Devices from NDR on show the fields of extended speeds only to an SM that says that it knows them; older
/// ones show them to every SM (iblinkinfo, which never says so, has always printed EDR).
bool hides_speeds(const Node& node) {
  return (node.speeds & (speed_bit(LinkSpeed::ndr) | speed_bit(LinkSpeed::xdr))) != 0;
}

/// A port that is down has no link to speak of: what it shows of one is left over, or tried just now.
void show_anything(wire::PortInfo& info, std::uint32_t n) {
  const auto low = [n](unsigned range) { return static_cast<std::uint8_t>(n % range); };
  info.link_width_active = static_cast<std::uint8_t>(1U << low(4));
  info.link_speed_active = static_cast<std::uint8_t>(1U << low(3));
  info.link_speed_ext_active = static_cast<std::uint8_t>(1U << low(4));
  info.neighbor_mtu = static_cast<Mtu>(1U + low(5));
  info.operational_vls = static_cast<std::uint8_t>(1U + low(4));
  info.vl_stall_count = low(8);
  info.hoq_life = low(20);
  if (info.phys_state == PhysState::polling && low(2) == 1) info.phys_state = PhysState::training;
}

Status answer_port_info(Request& request, PortIndex index, bool extended) {
  const auto& port = request.state.ports[index];
  auto info = port.info;
  const bool restless = request.state.options.firmware.restless_down_ports;
  if (restless && info.port_state == PortState::down) show_anything(info, request.state.restless++);
  info.local_port = request.here().number;
  const auto& keys = request.state.ports[request.end_port()].info;
  const bool key_fits = keys.m_key == request.smp.m_key();
  if (!request.set && !key_fits && keys.m_key_protect == 1) info.m_key = 0;
  if (!extended && hides_speeds(request.node())) {
    info.link_speed_ext_active = 0;
    info.link_speed_ext_supported = 0;
    info.link_speed_ext_enabled = 0;
    info.link_speed_ext2_active = 0;
    info.link_speed_ext2_supported = 0;
    info.link_speed_ext2_enabled = 0;
  }
  return answer(request, info);
}

/// The port that an attribute of one port speaks of: a CA's 0 is where the request came in.
std::optional<PortIndex> addressed(const Request& request, std::uint32_t number) {
  if (number > request.node().ports) return std::nullopt;
  if (number == 0 && !request.node().is_switch()) return request.at;
  return request.port(number);
}

}  // namespace

Status port_info(Request& request) {
  const auto& node = request.node();
  const auto modifier = request.smp.modifier();
  const bool extended = (modifier & kExtendedSpeeds) != 0;
  if (extended && node.faults && node.faults->extended_speeds_status != 0)
    return node.faults->extended_speeds_status;
  const auto index = addressed(request, modifier & ~kExtendedSpeeds);
  if (!index) return kInvalid;
  Status status = kGood;
  // A CA's port can be set only through itself.
  if (request.set && (node.is_switch() || *index == request.at))
    status = set_port_info(request, *index, extended);
  answer_port_info(request, *index, extended);
  return status;
}

Status port_info_extended(Request& request) {
  const auto index = addressed(request, request.smp.modifier());
  const auto& end_port = request.state.ports[request.end_port()].info;
  if ((end_port.capability_mask2 & wire::kCap2PortInfoExtended) == 0) return kBadMethodAttribute;
  if (!index) return kInvalid;
  auto& port = request.state.ports[*index];
  wire::PortInfoExtended info;
  if (port.tables && port.tables->extended) info = *port.tables->extended;
  if (request.set) {
    const auto desired = asked<wire::PortInfoExtended>(request);
    info.fdr_fec_enabled = desired.fdr_fec_enabled;
    info.edr_fec_enabled = desired.edr_fec_enabled;
    info.hdr_fec_enabled = desired.hdr_fec_enabled;
    info.ndr_fec_enabled = desired.ndr_fec_enabled;
    if (!port.tables) port.tables = std::make_unique<PortTables>();
    port.tables->extended = std::make_unique<wire::PortInfoExtended>(info);
  }
  return answer(request, info);
}

Status mlnx_ext_port_info(Request& request) {
  if (!wire::is_nvidia(request.node().vendor_id)) return kBadMethodAttribute;
  const auto index = addressed(request, request.smp.modifier());
  if (!index) return kInvalid;
  auto& port = request.state.ports[*index];
  constexpr auto kFdr10 = wire::MlnxExtPortInfo::kFdr10;
  const bool supported = (request.node().speeds & speed_bit(LinkSpeed::fdr10)) != 0;
  if (request.set && supported) {
    port.fdr10_enabled = (asked<wire::MlnxExtPortInfo>(request).link_speed_enabled & kFdr10) != 0;
  }
  wire::MlnxExtPortInfo info;
  if (supported) info.link_speed_supported = kFdr10;
  if (supported && port.fdr10_enabled) info.link_speed_enabled = kFdr10;
  if (port.speed == LinkSpeed::fdr10) info.link_speed_active = kFdr10;
  return answer(request, info);
}

}  // namespace smd::sim
