// SPDX-License-Identifier: Apache-2.0
#pragma once
// PortInfo. Layout: libibmad's IB_PORT_* fields, and for the second byte of extended speeds (XDR) those of a
// newer libibmad (LinkSpeedExtActive2 and its neighbours), which the kernel's mlx5 driver reads too.

#include <tuple>

#include "mad/base/id.h"
#include "mad/base/link.h"
#include "mad/wire/codec.h"

namespace smd::wire {

struct PortInfo {
  static constexpr std::uint16_t kAttribute = 0x0015;
  static constexpr std::string_view kName = "PortInfo";
  static constexpr std::size_t kBytes = 64;
  std::uint64_t m_key = 0, gid_prefix = 0;
  Lid lid{}, sm_lid{};
  std::uint32_t capability_mask = 0;  ///< kCap… of mad/wire/capability.h
  std::uint16_t diag_code = 0, m_key_lease_period = 0;
  PortNum local_port{};  ///< the port that the question came in by
  std::uint8_t link_width_enabled = 0, link_width_supported = 0, link_width_active = 0;
  std::uint8_t link_speed_supported = 0;
  PortState port_state{};
  PhysState phys_state{}, link_down_default{};
  std::uint8_t m_key_protect = 0, lmc = 0;
  std::uint8_t link_speed_active = 0, link_speed_enabled = 0;
  Mtu neighbor_mtu{};
  Sl master_sm_sl{};
  std::uint8_t vl_cap = 0, init_type = 0;
  std::uint8_t vl_high_limit = 0, vl_arb_high_cap = 0, vl_arb_low_cap = 0;
  std::uint8_t init_type_reply = 0;
  Mtu mtu_cap{};
  std::uint8_t vl_stall_count = 0, hoq_life = 0, operational_vls = 0;
  bool partition_enforce_in = false, partition_enforce_out = false;
  bool filter_raw_in = false, filter_raw_out = false;
  std::uint16_t m_key_violations = 0, p_key_violations = 0, q_key_violations = 0;
  std::uint8_t guid_cap = 0;
  bool client_reregister = false;
  std::uint8_t multicast_pkey_trap_suppression = 0;
  std::uint8_t subnet_timeout = 0, resp_time = 0;  ///< 4.096 us * 2^n
  std::uint8_t local_phy_errors = 0, overrun_errors = 0;
  std::uint16_t max_credit_hint = 0;
  std::uint8_t link_speed_ext2_active = 0, link_speed_ext2_supported = 0, link_speed_ext2_enabled = 0;
  std::uint32_t link_round_trip = 0;   ///< 24 bits
  std::uint16_t capability_mask2 = 0;  ///< kCap2…
  std::uint8_t link_speed_ext_active = 0, link_speed_ext_supported = 0, link_speed_ext_enabled = 0;

  // The table in three parts, in the order of the bits.
  /// Bits 0 to 231: keys, LIDs, capabilities.
  static constexpr auto identity() {
    using T = PortInfo;
    return std::tuple{field("M_Key", &T::m_key, 0, 64, Style::secret),
                      field("GidPrefix", &T::gid_prefix, 64, 64, Style::hex),
                      field("LID", &T::lid, 128, 16),
                      field("MasterSMLID", &T::sm_lid, 144, 16),
                      field("CapabilityMask", &T::capability_mask, 160, 32, Style::hex),
                      field("DiagCode", &T::diag_code, 192, 16, Style::hex),
                      field("M_KeyLeasePeriod", &T::m_key_lease_period, 208, 16),
                      field("LocalPortNum", &T::local_port, 224, 8)};
  }
  /// Bits 232 to 347: width, speed and state of the link, MTU and VLs.
  static constexpr auto link() {
    using T = PortInfo;
    return std::tuple{field("LinkWidthEnabled", &T::link_width_enabled, 232, 8, Style::hex),
                      field("LinkWidthSupported", &T::link_width_supported, 240, 8, Style::hex),
                      field("LinkWidthActive", &T::link_width_active, 248, 8, Style::hex),
                      field("LinkSpeedSupported", &T::link_speed_supported, 256, 4, Style::hex),
                      field("PortState", &T::port_state, 260, 4),
                      field("PortPhysicalState", &T::phys_state, 264, 4),
                      field("LinkDownDefaultState", &T::link_down_default, 268, 4),
                      field("M_KeyProtectBits", &T::m_key_protect, 272, 2),
                      field("LMC", &T::lmc, 277, 3),
                      field("LinkSpeedActive", &T::link_speed_active, 280, 4, Style::hex),
                      field("LinkSpeedEnabled", &T::link_speed_enabled, 284, 4, Style::hex),
                      field("NeighborMTU", &T::neighbor_mtu, 288, 4),
                      field("MasterSMSL", &T::master_sm_sl, 292, 4),
                      field("VLCap", &T::vl_cap, 296, 4),
                      field("InitType", &T::init_type, 300, 4, Style::hex),
                      field("VLHighLimit", &T::vl_high_limit, 304, 8),
                      field("VLArbitrationHighCap", &T::vl_arb_high_cap, 312, 8),
                      field("VLArbitrationLowCap", &T::vl_arb_low_cap, 320, 8),
                      field("InitTypeReply", &T::init_type_reply, 328, 4, Style::hex),
                      field("MTUCap", &T::mtu_cap, 332, 4),
                      field("VLStallCount", &T::vl_stall_count, 336, 3),
                      field("HOQLife", &T::hoq_life, 339, 5),
                      field("OperationalVLs", &T::operational_vls, 344, 4)};
  }
  /// Bits 348 to 511: partition enforcement, error counters and time-outs, extended speeds.
  static constexpr auto limits() {
    using T = PortInfo;
    return std::tuple{
        field("PartitionEnforcementInbound", &T::partition_enforce_in, 348, 1),
        field("PartitionEnforcementOutbound", &T::partition_enforce_out, 349, 1),
        field("FilterRawInbound", &T::filter_raw_in, 350, 1),
        field("FilterRawOutbound", &T::filter_raw_out, 351, 1),
        field("M_KeyViolations", &T::m_key_violations, 352, 16),
        field("P_KeyViolations", &T::p_key_violations, 368, 16),
        field("Q_KeyViolations", &T::q_key_violations, 384, 16),
        field("GUIDCap", &T::guid_cap, 400, 8),
        field("ClientReregister", &T::client_reregister, 408, 1),
        field("MulticastPKeyTrapSuppressionEnabled", &T::multicast_pkey_trap_suppression, 409, 2),
        field("SubnetTimeOut", &T::subnet_timeout, 411, 5),
        field("RespTimeValue", &T::resp_time, 419, 5),
        field("LocalPhyErrors", &T::local_phy_errors, 424, 4),
        field("OverrunErrors", &T::overrun_errors, 428, 4),
        field("MaxCreditHint", &T::max_credit_hint, 432, 16),
        field("LinkSpeedExtActive2", &T::link_speed_ext2_active, 449, 2, Style::hex),
        field("LinkSpeedExtSupported2", &T::link_speed_ext2_supported, 451, 2, Style::hex),
        field("LinkSpeedExtEnabled2", &T::link_speed_ext2_enabled, 453, 3, Style::hex),
        field("LinkRoundTripLatency", &T::link_round_trip, 456, 24),
        field("CapabilityMask2", &T::capability_mask2, 480, 16, Style::hex),
        field("LinkSpeedExtActive", &T::link_speed_ext_active, 496, 4, Style::hex),
        field("LinkSpeedExtSupported", &T::link_speed_ext_supported, 500, 4, Style::hex),
        field("LinkSpeedExtEnabled", &T::link_speed_ext_enabled, 507, 5, Style::hex)};
  }
  static constexpr auto fields() { return std::tuple_cat(identity(), link(), limits()); }
  friend bool operator==(const PortInfo&, const PortInfo&) = default;
};
static_assert(well_formed<PortInfo>());

}  // namespace smd::wire
