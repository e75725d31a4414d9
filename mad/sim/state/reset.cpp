// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/state/reset.h"

#include <initializer_list>

#include "mad/sim/state/rates.h"
#include "mad/wire/capability.h"
#include "mad/wire/vendor.h"

namespace smd::sim {
namespace {

constexpr std::uint64_t kDefaultGidPrefix = 0xFE80'0000'0000'0000ULL;
constexpr SpeedSet set_of(std::initializer_list<LinkSpeed> speeds) {
  unsigned bits = 0;
  for (const auto speed : speeds) bits |= speed_bit(speed);
  return static_cast<SpeedSet>(bits);
}
constexpr SpeedSet kXdr = set_of({LinkSpeed::xdr});
constexpr SpeedSet kNdrOrMore = set_of({LinkSpeed::ndr, LinkSpeed::xdr});
constexpr SpeedSet kHdrOrMore = set_of({LinkSpeed::hdr, LinkSpeed::ndr, LinkSpeed::xdr});
constexpr SpeedSet kExtended =
    set_of({LinkSpeed::fdr, LinkSpeed::edr, LinkSpeed::hdr, LinkSpeed::ndr, LinkSpeed::xdr});

/// A file that does not know a link's speed says nothing against EDR.
LinkSpeed simulated(LinkSpeed speed) { return speed == LinkSpeed::unknown ? LinkSpeed::edr : speed; }

unsigned capacity_of_width(LinkWidth width) {
  return width == LinkWidth::x2 ? 2 : 2U * static_cast<unsigned>(width);
}

void find_rates(Node& node, const base::FabricNode& from) {
  bool any = false;
  for (const auto& port : from.ports) {
    if (!port.peer) continue;
    any = true;
    node.speeds = static_cast<SpeedSet>(node.speeds | speed_bit(simulated(port.rate.speed)));
    if (capacity_of_width(port.rate.width) > capacity_of_width(node.widest)) node.widest = port.rate.width;
  }
  if (!any) node.speeds = speed_bit(LinkSpeed::edr);
  node.speeds = speeds_up_to(node.speeds);
}

void make_node(State& state, NodeIndex index, const base::FabricNode& from) {
  auto& node = state.nodes[index];
  node.type = from.type;
  node.ports = static_cast<std::uint16_t>(from.port_count());
  node.first_port = static_cast<PortIndex>(state.ports.size());
  node.vendor_id = from.vendor_id;
  node.device_id = from.device_id;
  node.guid = from.guid;
  node.system_image = from.system_image;
  node.id = from.id;
  node.name = from.name;
  find_rates(node, from);
  if (from.type == NodeType::switch_) {
    node.sw = std::make_unique<SwitchTables>();
    node.sw->info.enhanced_port0 = from.enhanced_port0;
    node.sw->mft_positions = (node.ports + 16U) / 16U;
    if (wire::is_nvidia(node.vendor_id)) node.sw->adaptive = std::make_unique<AdaptiveTables>();
  }
  for (unsigned number = 0; number <= node.ports; ++number) {
    auto& port = state.ports.emplace_back();
    port.node = index;
    port.number = PortNum{static_cast<std::uint8_t>(number)};
    port.guid = base::port_guid(from, port.number);
  }
}

void lay_cables(State& state, const base::Fabric& description) {
  for (NodeIndex index = 0; index < description.nodes.size(); ++index) {
    const auto& from = description.nodes[index].ports;
    for (std::size_t number = 1; number < from.size(); ++number) {
      const auto& peer = from[number].peer;
      if (!peer || peer->node >= state.nodes.size() || peer->port.value() > state.nodes[peer->node].ports)
        continue;
      auto& port = state.port(state.nodes[index], static_cast<unsigned>(number));
      port.peer = state.index(state.nodes[peer->node], peer->port.value());
      port.cable_width = from[number].rate.width;
      port.cable_speed = from[number].rate.speed;
    }
  }
}

std::uint16_t end_port_capabilities2(const Node& node) {
  unsigned bits = 0;
  if ((node.speeds & kExtended) != 0) bits |= wire::kCap2PortInfoExtended;
  if ((node.speeds & kHdrOrMore) != 0) bits |= wire::kCap2LinkWidth2x | wire::kCap2LinkSpeedHdr;
  if ((node.speeds & kNdrOrMore) != 0) bits |= wire::kCap2LinkSpeedNdr;
  if ((node.speeds & kXdr) != 0) bits |= wire::kCap2ExtendedSpeeds2 | wire::kCap2LinkSpeedXdr;
  return static_cast<std::uint16_t>(bits);
}

void show_first_lid(const Options& options, const Port& port, wire::PortInfo& info) {
  switch (options.lid_after_reset) {
    case LidAfterReset::zero:
      return;
    case LidAfterReset::permissive:
      info.lid = kPermissiveLid;
      return;
    case LidAfterReset::kept:
      info.lid = port.info.lid;
      info.lmc = port.info.lmc;
      return;
  }
}

void reset_port(const Options& options, const Node& node, Port& port) {
  const bool management = node.is_switch() && port.number == PortNum{0};
  const bool end_port = management || !node.is_switch();
  wire::PortInfo info;
  if (!node.is_switch()) show_first_lid(options, port, info);
  info.local_port = port.number;
  info.link_width_supported = widths_up_to(node.widest, (node.speeds & kHdrOrMore) != 0);
  info.link_width_enabled = info.link_width_supported;
  info.link_speed_supported = link_speed_bits(node.speeds);
  info.link_speed_enabled = info.link_speed_supported;
  info.link_speed_ext_supported = link_speed_ext_bits(node.speeds);
  info.link_speed_ext_enabled = info.link_speed_ext_supported;
  info.link_speed_ext2_supported = link_speed_ext2_bits(node.speeds);
  info.link_speed_ext2_enabled = info.link_speed_ext2_supported;
  // An enhanced port 0 is taken up by the SM as any other end port.
  const bool base_port0 = management && !node.sw->info.enhanced_port0;
  info.port_state = base_port0 ? PortState::active : management ? PortState::init : PortState::down;
  info.phys_state = management ? PhysState::link_up : PhysState::polling;  // also where it sleeps later
  info.link_down_default = options.firmware.down_default;
  info.neighbor_mtu = Mtu::m2048;
  info.mtu_cap = options.capacities.mtu;
  info.vl_cap = node.vl_cap != 0 ? node.vl_cap : options.capacities.vl_cap;
  info.vl_arb_high_cap = options.capacities.vl_arb;
  info.vl_arb_low_cap = options.capacities.vl_arb;
  info.operational_vls = 1;  // VL0 alone
  info.hoq_life = 0x10;
  info.resp_time = 16;
  if (end_port) {
    info.gid_prefix = kDefaultGidPrefix;
    info.capability_mask = end_port_capabilities(node);
    if (management && options.firmware.multicast_top != MulticastTop::unsupported)
      info.capability_mask |= wire::kCapMulticastFdbTop;
    info.capability_mask2 = end_port_capabilities2(node);
    info.guid_cap = management ? std::uint8_t{1} : options.capacities.ca_guids;
  }
  port.info = info;
  port.vls = info.operational_vls;
  port.disabled = false;
  port.fdr10_enabled = (node.speeds & speed_bit(LinkSpeed::fdr10)) != 0;
  port.tables.reset();
  show_no_rate(port);
  if (management) show_rate(port, {.width = LinkWidth::x4, .speed = LinkSpeed::sdr});
}

void reset_switch(const Options& options, SwitchTables& sw) {
  const auto& capacities = options.capacities;
  const bool enhanced = sw.info.enhanced_port0;
  const auto linear_fdb_cap = sw.info.linear_fdb_cap != 0 ? sw.info.linear_fdb_cap : capacities.linear_fdb;
  sw.info = {};
  sw.info.linear_fdb_cap = linear_fdb_cap;
  sw.info.multicast_fdb_cap = capacities.multicast_fdb;
  sw.info.partition_enforcement_cap = capacities.enforced_pkeys;
  sw.info.inbound_enforcement = capacities.enforced_pkeys != 0;
  sw.info.outbound_enforcement = capacities.enforced_pkeys != 0;
  sw.info.optimized_sl_to_vl = capacities.optimized_sl_to_vl ? 1 : 0;
  sw.info.filter_raw_inbound = true;
  sw.info.filter_raw_outbound = true;
  sw.info.enhanced_port0 = enhanced;
  sw.zero_top_is_none = options.firmware.multicast_top == MulticastTop::zero_is_none;
  sw.lft = {};
  sw.mft = {};
  sw.sl_to_vl = {};
  if (sw.adaptive) *sw.adaptive = fresh_adaptive();
}

}  // namespace

std::uint32_t end_port_capabilities(const Node& node) {
  std::uint32_t bits = wire::kCapTrap | wire::kCapSlMapping | wire::kCapSystemImageGuid |
                       wire::kCapExtendedSpeeds | wire::kCapCapabilityMask2 | wire::kCapCapabilityMaskNotice |
                       wire::kCapClientReregistration | wire::kCapOtherLocalChangesNotice;
  if ((node.speeds & kExtended) == 0) bits &= ~(wire::kCapExtendedSpeeds | wire::kCapCapabilityMask2);
  return bits;
}

void reset_node(State& state, NodeIndex index) {
  auto& node = state.nodes[index];
  node.busy_until = state.now;
  if (node.sw) reset_switch(state.options, *node.sw);
  for (unsigned number = 0; number <= node.ports; ++number) {
    reset_port(state.options, node, state.port(node, number));
  }
  for (auto& trap : state.traps) {
    if (state.ports[trap.port].node == index) trap.pending = false;
  }
}

State power_on(const base::Fabric& description, const Options& options) {
  State state;
  state.options = options;
  state.random = Random(options.seed);
  state.nodes.resize(description.nodes.size());
  std::size_t ports = 0;
  for (const auto& node : description.nodes) ports += node.port_count() + std::size_t{1};
  state.ports.reserve(ports);
  for (NodeIndex index = 0; index < description.nodes.size(); ++index) {
    make_node(state, index, description.nodes[index]);
  }
  lay_cables(state, description);
  for (NodeIndex index = 0; index < state.nodes.size(); ++index) {
    reset_node(state, index);
    const auto& from = description.nodes[index].ports;
    for (unsigned number = 0; number < from.size(); ++number) {
      auto& port = state.port(state.nodes[index], number);
      if (from[number].lid == Lid{}) continue;
      port.info.lid = from[number].lid;
      port.info.lmc = from[number].lmc;
    }
  }
  return state;
}

}  // namespace smd::sim
