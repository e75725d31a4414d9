// SPDX-License-Identifier: Apache-2.0
#pragma once
// SwitchInfo and the forwarding tables. Layout: libibmad's IB_SW_*, IB_LINEAR_FORW_TBL_F,
// IB_MULTICAST_FORW_TBL_F.

#include <array>
#include <tuple>

#include "mad/base/id.h"
#include "mad/wire/codec.h"

namespace smd::wire {

struct SwitchInfo {
  static constexpr std::uint16_t kAttribute = 0x0012;
  static constexpr std::string_view kName = "SwitchInfo";
  static constexpr std::size_t kBytes = 20;
  std::uint16_t linear_fdb_cap = 0, random_fdb_cap = 0;
  std::uint16_t multicast_fdb_cap = 0;  ///< MLIDs, from 0xC000 on
  std::uint16_t linear_fdb_top = 0;     ///< last LID that the LFT is used for
  PortNum default_port{}, default_mcast_primary{}, default_mcast_not_primary{};
  std::uint8_t life_time = 0;           ///< 4.096 us * 2^n
  bool port_state_change = false;       ///< written as 1 it is cleared
  std::uint8_t optimized_sl_to_vl = 0;  ///< OptimizedSLtoVLMappingProgramming
  std::uint16_t lids_per_port = 0;
  std::uint16_t partition_enforcement_cap = 0;  ///< P_Keys a port can enforce
  bool inbound_enforcement = false, outbound_enforcement = false;
  bool filter_raw_inbound = false, filter_raw_outbound = false;
  bool enhanced_port0 = false;
  std::uint16_t multicast_fdb_top = 0;

  /// Rows of the byte layout: libibmad's IB_SW_*.
  static constexpr auto fields() {
    using T = SwitchInfo;
    return std::tuple{field("LinearFDBCap", &T::linear_fdb_cap, 0, 16),
                      field("RandomFDBCap", &T::random_fdb_cap, 16, 16),
                      field("MulticastFDBCap", &T::multicast_fdb_cap, 32, 16),
                      field("LinearFDBTop", &T::linear_fdb_top, 48, 16),
                      field("DefaultPort", &T::default_port, 64, 8),
                      field("DefaultMulticastPrimaryPort", &T::default_mcast_primary, 72, 8),
                      field("DefaultMulticastNotPrimaryPort", &T::default_mcast_not_primary, 80, 8),
                      field("LifeTimeValue", &T::life_time, 88, 5),
                      field("PortStateChange", &T::port_state_change, 93, 1),
                      field("OptimizedSLtoVLMappingProgramming", &T::optimized_sl_to_vl, 94, 2),
                      field("LIDsPerPort", &T::lids_per_port, 96, 16),
                      field("PartitionEnforcementCap", &T::partition_enforcement_cap, 112, 16),
                      field("InboundEnforcementCap", &T::inbound_enforcement, 128, 1),
                      field("OutboundEnforcementCap", &T::outbound_enforcement, 129, 1),
                      field("FilterRawInboundCap", &T::filter_raw_inbound, 130, 1),
                      field("FilterRawOutboundCap", &T::filter_raw_outbound, 131, 1),
                      field("EnhancedPort0", &T::enhanced_port0, 132, 1),
                      field("MulticastFDBTop", &T::multicast_fdb_top, 144, 16, Style::hex)};
  }
  friend bool operator==(const SwitchInfo&, const SwitchInfo&) = default;
};
static_assert(well_formed<SwitchInfo>());

/// 64 LIDs of a switch's linear forwarding table: the port to leave by, kNoPort where there is none.
struct LinearForwardingTable {
  static constexpr std::uint16_t kAttribute = 0x0019;
  static constexpr std::string_view kName = "LinearForwardingTable";
  static constexpr std::size_t kBytes = 64;
  std::array<PortNum, 64> ports{};

  /// Row of the byte layout: one byte a LID (libibmad's IB_LINEAR_FORW_TBL_F).
  static constexpr auto fields() {
    return std::tuple{array_field("Port", &LinearForwardingTable::ports, 0, 8)};
  }
  friend bool operator==(const LinearForwardingTable&, const LinearForwardingTable&) = default;
};
static_assert(well_formed<LinearForwardingTable>());

/// 32 MLIDs of a switch's multicast forwarding table, for the 16 ports of one position: bit p is port
/// 16 * position + p.
struct MulticastForwardingTable {
  static constexpr std::uint16_t kAttribute = 0x001B;
  static constexpr std::string_view kName = "MulticastForwardingTable";
  static constexpr std::size_t kBytes = 64;
  std::array<std::uint16_t, 32> masks{};

  /// Row of the byte layout: 16 bits an MLID (libibmad's IB_MULTICAST_FORW_TBL_F).
  static constexpr auto fields() {
    return std::tuple{array_field("PortMask", &MulticastForwardingTable::masks, 0, 16, 0, Style::hex)};
  }
  friend bool operator==(const MulticastForwardingTable&, const MulticastForwardingTable&) = default;
};
static_assert(well_formed<MulticastForwardingTable>());

}  // namespace smd::wire
