// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/desired.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "mad/wire/capability.h"
#include "mad/wire/codec.h"
#include "smd/decide/path_layers.h"
#include "smd/sweep/end_ports.h"
#include "smd/sweep/enforcement.h"
#include "smd/sweep/mft.h"

namespace smd::sm::inline planning {
namespace {

/// Fields that a node may not keep without harm, by their names in the field tables. LIDs, LMC, MasterSMLID,
/// LinearFDBTop and PortStateChange are not among them: where these do not stay, the Set has failed.
constexpr std::array<std::string_view, 21> kPortFields{"LinkWidthEnabled",
                                                       "LinkSpeedEnabled",
                                                       "LinkSpeedExtEnabled",
                                                       "LinkSpeedExtEnabled2",
                                                       "LinkDownDefaultState",
                                                       "GidPrefix",
                                                       "MasterSMSL",
                                                       "SubnetTimeOut",
                                                       "OperationalVLs",
                                                       "NeighborMTU",
                                                       "HOQLife",
                                                       "VLHighLimit",
                                                       "VLStallCount",
                                                       "LocalPhyErrors",
                                                       "OverrunErrors",
                                                       "PartitionEnforcementInbound",
                                                       "PartitionEnforcementOutbound",
                                                       "FilterRawInbound",
                                                       "FilterRawOutbound",
                                                       "M_KeyLeasePeriod",
                                                       "M_KeyProtectBits"};
constexpr std::array<std::string_view, 1> kSwitchFields{"LifeTimeValue"};
constexpr std::array<std::string_view, 1> kAdaptiveFields{"E"};

/// Leaves fields as they are that this port is known not to keep, as long as the same value is desired.
template <class A>
void leave_unkept(A& desired, const A& now, const Node& node, PortNum port) {
  if (node.not_kept.empty()) return;
  wire::for_each_field<A>([&](const auto& row) {
    const auto value = wire::to_number(row.get(desired, 0));
    const bool unkept = std::ranges::any_of(node.not_kept, [&](const NotKept& noted) {
      return noted.attribute == A::kAttribute && noted.port == port && noted.field == row.name &&
             noted.desired == value;
    });
    if (unkept) row.set(desired, 0, row.get(now, 0));
  });
}

/// All extended speeds are off; some firmware shows the code that was Set, other shows 0.
bool is_off(std::string_view field, std::uint64_t value) {
  return (field == "LinkSpeedExtEnabled" && value == kNoExtendedSpeed) ||
         (field == "LinkSpeedExtEnabled2" && value == kNoExtendedSpeed2);
}

template <class A>
std::vector<NotKept> unkept_fields(PortNum port, const A& sent, const A& answered,
                                   std::span<const std::string_view> ours) {
  std::vector<NotKept> found;
  wire::for_each_field<A>([&](const auto& row) {
    const auto desired = wire::to_number(row.get(sent, 0));
    const auto held = wire::to_number(row.get(answered, 0));
    if (desired == held) return;  // before the names are compared: nearly every field of every answer
    const bool may_be_left = row.name.find("Enabled") != row.name.npos || row.name == "LinkDownDefaultState";
    const bool unchanged = desired == 0 && may_be_left;  // 'no change' was sent
    if (std::ranges::find(ours, row.name) == ours.end() || unchanged) return;
    if (held == 0 && is_off(row.name, desired)) return;
    found.push_back({A::kAttribute, port, std::string(row.name), desired});
  });
  return found;
}

bool has_lid_fields(const Node& node, PortNum port) { return !node.is_switch() || port.value() == 0; }

/// What a port with LIDs of its own is told: who it is and who its SM is.
bool set_identity(const PlanInput& in, const Node& node, PortNum num, wire::PortInfo& desired) {
  const auto* lid = in.decided.lids->find(port_guid(node, num));
  if (lid == nullptr) return false;
  desired.lid = lid->base;
  desired.lmc = lid->lmc;
  desired.sm_lid = in.decided.lids->sm_lid;
  desired.master_sm_sl =
      path_sl(in.decided, in.decided.settings->master_sm_sl, node, num, in.decided.lids->sm_lid);
  desired.gid_prefix = in.decided.settings->gid_prefix;
  desired.subnet_timeout = in.decided.settings->subnet_timeout;
  return true;
}

/// An Enabled field; 0 stands for `off` where it is read.
void enable(std::uint8_t& field, std::uint8_t value, std::uint8_t off) {
  if (value != 0 && (value != off || field != 0)) field = value;
}

/// Of a link's end, or of an enhanced port 0, which packets reach through the switch: it discards none.
void set_link(const PlanInput& in, const LinkSettings& link, wire::PortInfo& desired) {
  if (link.operational_vls != 0) desired.operational_vls = link.operational_vls;
  desired.neighbor_mtu = link.neighbor_mtu;
  if (link.hoq_life) desired.hoq_life = *link.hoq_life;
  if (link.vl_stall_count) desired.vl_stall_count = *link.vl_stall_count;
  if (link.enabled.width != 0) desired.link_width_enabled = link.enabled.width;
  if (link.enabled.speed != 0) desired.link_speed_enabled = link.enabled.speed;
  enable(desired.link_speed_ext_enabled, link.enabled.speed_ext, kNoExtendedSpeed);
  enable(desired.link_speed_ext2_enabled, link.enabled.speed_ext2, kNoExtendedSpeed2);
  desired.local_phy_errors = in.decided.settings->local_phy_errors;
  desired.overrun_errors = in.decided.settings->overrun_errors;
}

void set_high_limit(const PlanInput& in, std::size_t index, PortNum num, wire::PortInfo& desired) {
  const auto* tables = in.decided.qos_tables ? in.decided.qos_tables->find(index, num) : nullptr;
  if (tables != nullptr) desired.vl_high_limit = tables->high_limit;
}

/// Bits of the switch port next to an end port; where partitions are not smd's, those that an earlier SM has
/// left stay.
void set_enforcement(const PlanInput& in, const Node& node, PortNum num, wire::PortInfo& desired) {
  const auto* decided = in.decided.partitions && node.is_switch()
                            ? in.decided.partitions->find_enforced({node.guid(), num})
                            : nullptr;
  if (decided != nullptr && (decided->in || decided->out) && !node.ports[num.value()].held<wire::PKeyTable>())
    return;  // its table has got lost, and is read with the next sweep
  if (decided != nullptr) {
    desired.partition_enforce_in = decided->in;
    desired.partition_enforce_out = decided->out;
  } else if (enforces_for_another(in.subnet, node, num)) {
    stop_enforcing(desired);
  }
}

/// Of the last block in use; whole blocks, so that it does not change with each group. Not beyond the
/// switch's table, and never 0xFFFF, which would end the last block and is no multicast LID.
std::uint16_t mft_top(const McPart& part, const wire::SwitchInfo& is) {
  constexpr std::size_t kMlids = 0x3FFF;
  const auto blocks = (part.top + routing::kMftBlock - 1) / routing::kMftBlock;
  const auto entries = std::min({blocks * routing::kMftBlock, std::size_t{is.multicast_fdb_cap}, kMlids});
  return static_cast<std::uint16_t>(kFirstMulticastLid.value() + entries - 1);
}

/// A CA's or router's port that no LID was left for stays down: nothing could be sent to it.
bool leads_nowhere(const PlanInput& in, const Port& port) {
  if (!port.peer || in.decided.lids->without_lid.empty()) return false;
  const auto* peer = in.subnet.find(port.peer->node);
  if (peer == nullptr || peer->is_switch()) return false;
  return in.decided.lids->find(peer->ports[port.peer->port.value()].guid) == nullptr;
}

/// A host on a switch that no route leads to, because tables are too small, stays down if it is.
bool stays_down(const PlanInput& in, const Node& node, const Port& port) {
  if (!in.decided.routes || in.decided.routes->beyond.empty() || !port.peer) return false;
  if (port.info.port_state == PortState::active) return false;
  const auto* peer = in.subnet.find(port.peer->node);
  if (peer == nullptr || node.is_switch() == peer->is_switch()) return false;
  return std::ranges::binary_search(in.decided.routes->beyond, node.is_switch() ? node.guid() : peer->guid());
}

/// As long as partitions are not smd's a port in Init gets back what its switch checks, one in service does
/// not.
bool waits_for_its_switch(const PlanInput& in, const Node& node, PortNum num) {
  const bool begins = node.ports[num.value()].info.port_state == PortState::init;
  return begins && in.decided.partitions && !in.decided.partitions->managed && stays_armed(in, node, num);
}

const LinkSettings* port0_link(const PlanInput& in, const Node& node) {
  const auto index = in.subnet.index_of(node.guid());
  if (!node.is_switch() || !index) return nullptr;
  const auto& link = in.decided.links->ports[*index][0];
  return link ? &*link : nullptr;
}

}  // namespace

std::optional<wire::PortInfo> desired_port_info(const PlanInput& in, const Node& node, PortNum num) {
  const auto& port = node.ports[num.value()];
  if (!port.known) return std::nullopt;
  auto desired = port.info;
  if (has_lid_fields(node, num) && !set_identity(in, node, num, desired)) return std::nullopt;
  if (num.value() != 0) {
    const auto index = in.subnet.index_of(node.guid());
    if (!port.linked() || !index || leads_nowhere(in, port) || stays_down(in, node, port) ||
        waits_for_its_switch(in, node, num))
      return std::nullopt;
    const auto& link = in.decided.links->ports[*index][num.value()];
    if (!link) return std::nullopt;
    set_link(in, *link, desired);
    set_high_limit(in, *index, num, desired);
    desired.link_down_default = PhysState::polling;  // two ends in Sleep would not find each other again
    set_enforcement(in, node, num, desired);
  } else if (const auto* link = port0_link(in, node)) {
    set_link(in, *link, desired);
    if (const auto index = in.subnet.index_of(node.guid())) set_high_limit(in, *index, num, desired);
  }
  leave_unkept(desired, port.info, node, num);
  return desired;
}

std::optional<wire::SwitchInfo> desired_switch_info(const PlanInput& in, const Node& node) {
  if (!node.switch_info) return std::nullopt;
  auto desired = *node.switch_info;
  // A table that cannot hold all LIDs is left alone; the routes go round that switch.
  if (in.decided.routes->find(node.guid()) != nullptr)
    desired.linear_fdb_top = in.decided.routes->top.value();
  desired.life_time = in.decided.settings->life_time_value;
  if (in.decided.multicast && knows_mft_top(node))
    desired.multicast_fdb_top = mft_top(*in.decided.multicast, *node.switch_info);
  desired.port_state_change = false;
  leave_unkept(desired, *node.switch_info, node, PortNum{0});
  return desired;
}

std::optional<wire::ArInfo> desired_ar_info(const PlanInput& in, const Node& node) {
  if (!in.decided.settings->ends_adaptive_routing || !node.routes_adaptively()) return std::nullopt;
  auto desired = *node.ar_info;
  desired.enabled = false;
  leave_unkept(desired, *node.ar_info, node, PortNum{0});
  return desired.enabled ? std::nullopt : std::optional(desired);
}

wire::PortInfo port_info_to_set(const wire::PortInfo& desired, const wire::PortInfo& now, PortState target) {
  auto set = desired;
  set.port_state = target;
  // Down alone resets the logical state; the link trains anew only where it polls (OpenSM sets both, too).
  set.phys_state = target == PortState::down ? PhysState::polling : PhysState::no_change;
  // 0 is 'no change' in these.
  if (desired.link_down_default == now.link_down_default) set.link_down_default = PhysState::no_change;
  if (desired.link_width_enabled == now.link_width_enabled) set.link_width_enabled = 0;
  if (desired.link_speed_enabled == now.link_speed_enabled) set.link_speed_enabled = 0;
  if (desired.link_speed_ext_enabled == now.link_speed_ext_enabled) set.link_speed_ext_enabled = 0;
  if (desired.link_speed_ext2_enabled == now.link_speed_ext2_enabled) set.link_speed_ext2_enabled = 0;
  set.client_reregister = false;
  return set;
}

bool stays_armed(const PlanInput& in, const Node& node, PortNum num) {
  if (!in.decided.partitions || in.decided.partitions->not_enforced.empty()) return false;
  const auto& peer = node.ports[num.value()].peer;
  return in.decided.partitions->holds_back({node.guid(), num}) ||
         (peer && in.decided.partitions->holds_back(*peer));
}

bool must_retrain(const PlanInput& in, const Node& node, PortNum num) {
  const auto index = in.subnet.index_of(node.guid());
  if (num.value() == 0 || !index) return false;
  const auto& link = in.decided.links->ports[*index][num.value()];
  return link && link->retrain;
}

std::vector<NotKept> not_kept(PortNum port, const wire::PortInfo& sent, const wire::PortInfo& answered) {
  auto found = unkept_fields(port, sent, answered, kPortFields);
  if (sent.m_key != answered.m_key)
    found.push_back({wire::PortInfo::kAttribute, port, std::string(kMKeyField), kMKeyNoted});
  return found;
}

std::vector<NotKept> not_kept(const wire::SwitchInfo& sent, const wire::SwitchInfo& answered) {
  return unkept_fields(PortNum{0}, sent, answered, kSwitchFields);
}

std::vector<NotKept> not_kept(const wire::ArInfo& sent, const wire::ArInfo& answered) {
  return unkept_fields(PortNum{0}, sent, answered, kAdaptiveFields);
}

}  // namespace smd::sm::inline planning
