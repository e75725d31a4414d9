// SPDX-License-Identifier: Apache-2.0
#pragma once
// Attributes of performance management. Layout: libibmad's IB_PC_*.

#include <cstdint>
#include <string_view>
#include <tuple>

#include "mad/base/id.h"
#include "mad/wire/codec.h"

namespace smd::wire {

/// Where the attribute begins in a performance MAD: behind the header and 40 bytes that nobody uses.
inline constexpr std::size_t kPerformanceData = 64;
/// Bytes of it.
inline constexpr std::size_t kPerformanceBytes = 192;

/// Bits of ClassPortInfo.CapabilityMask of this class.
inline constexpr std::uint16_t kPmAllPortSelect = 0x0100, kPmExtendedWidth = 0x0200, kPmXmitWait = 0x1000;

/// Port number that stands for all ports of a node together.
inline constexpr PortNum kAllPorts{255};

struct PortCounters {
  static constexpr std::uint16_t kAttribute = 0x0012;
  static constexpr std::string_view kName = "PortCounters";
  static constexpr std::size_t kBytes = 44;
  PortNum port{};
  std::uint16_t select = 0;  ///< of a Set: counters that are written, bit 0 SymbolErrorCounter and so on
  std::uint16_t symbol_errors = 0;
  std::uint8_t link_recoveries = 0, link_downed = 0;
  std::uint16_t receive_errors = 0, remote_physical_errors = 0, switch_relay_errors = 0;
  std::uint16_t transmit_discards = 0;
  std::uint8_t transmit_constraint_errors = 0, receive_constraint_errors = 0;
  std::uint8_t select2 = 0;  ///< bit 0: PortXmitWait
  std::uint8_t link_integrity_errors = 0, buffer_overruns = 0;
  std::uint16_t vl15_dropped = 0;
  std::uint32_t transmit_data = 0, receive_data = 0, transmit_packets = 0, receive_packets = 0;
  std::uint32_t transmit_wait = 0;

  static constexpr auto fields() {
    using T = PortCounters;
    return std::tuple{field("PortSelect", &T::port, 8, 8),
                      field("CounterSelect", &T::select, 16, 16, Style::hex),
                      field("SymbolErrorCounter", &T::symbol_errors, 32, 16),
                      field("LinkErrorRecoveryCounter", &T::link_recoveries, 48, 8),
                      field("LinkDownedCounter", &T::link_downed, 56, 8),
                      field("PortRcvErrors", &T::receive_errors, 64, 16),
                      field("PortRcvRemotePhysicalErrors", &T::remote_physical_errors, 80, 16),
                      field("PortRcvSwitchRelayErrors", &T::switch_relay_errors, 96, 16),
                      field("PortXmitDiscards", &T::transmit_discards, 112, 16),
                      field("PortXmitConstraintErrors", &T::transmit_constraint_errors, 128, 8),
                      field("PortRcvConstraintErrors", &T::receive_constraint_errors, 136, 8),
                      field("CounterSelect2", &T::select2, 144, 8, Style::hex),
                      field("LocalLinkIntegrityErrors", &T::link_integrity_errors, 152, 4),
                      field("ExcessiveBufferOverrunErrors", &T::buffer_overruns, 156, 4),
                      field("VL15Dropped", &T::vl15_dropped, 176, 16),
                      field("PortXmitData", &T::transmit_data, 192, 32),
                      field("PortRcvData", &T::receive_data, 224, 32),
                      field("PortXmitPkts", &T::transmit_packets, 256, 32),
                      field("PortRcvPkts", &T::receive_packets, 288, 32),
                      field("PortXmitWait", &T::transmit_wait, 320, 32)};
  }
  friend bool operator==(const PortCounters&, const PortCounters&) = default;
};
static_assert(well_formed<PortCounters>());

struct PortCountersExtended {
  static constexpr std::uint16_t kAttribute = 0x001D;
  static constexpr std::string_view kName = "PortCountersExtended";
  static constexpr std::size_t kBytes = 72;
  PortNum port{};
  std::uint16_t select = 0;  ///< of a Set: counters that are written, bit 0 PortXmitData and so on
  std::uint64_t transmit_data = 0, receive_data = 0, transmit_packets = 0, receive_packets = 0;
  std::uint64_t unicast_transmitted = 0, unicast_received = 0, multicast_transmitted = 0,
                multicast_received = 0;

  static constexpr auto fields() {
    using T = PortCountersExtended;
    return std::tuple{field("PortSelect", &T::port, 8, 8),
                      field("CounterSelect", &T::select, 16, 16, Style::hex),
                      field("PortXmitData", &T::transmit_data, 64, 64),
                      field("PortRcvData", &T::receive_data, 128, 64),
                      field("PortXmitPkts", &T::transmit_packets, 192, 64),
                      field("PortRcvPkts", &T::receive_packets, 256, 64),
                      field("PortUnicastXmitPkts", &T::unicast_transmitted, 320, 64),
                      field("PortUnicastRcvPkts", &T::unicast_received, 384, 64),
                      field("PortMulticastXmitPkts", &T::multicast_transmitted, 448, 64),
                      field("PortMulticastRcvPkts", &T::multicast_received, 512, 64)};
  }
  friend bool operator==(const PortCountersExtended&, const PortCountersExtended&) = default;
};
static_assert(well_formed<PortCountersExtended>());

}  // namespace smd::wire
