// SPDX-License-Identifier: Apache-2.0
#pragma once
// Attributes of performance management. Layout: libibmad's IB_PC_*.

#include <cstdint>
#include <string_view>
#include <tuple>

#include "mad/base/id.h"
#include "mad/wire/codec.h"

namespace smd::wire {

/// Where the attribute begins in a performance MAD: behind the header and 40 unused bytes.
inline constexpr std::size_t kPerformanceData = 64;
/// Bytes of it.
inline constexpr std::size_t kPerformanceBytes = 192;

/// Bits of ClassPortInfo.CapabilityMask of this class.
inline constexpr std::uint16_t kPmAllPortSelect = 0x0100, kPmExtendedWidth = 0x0200, kPmXmitWait = 0x1000;
/// Of ClassPortInfo.CapabilityMask2: PortCountersExtended has the error counters, too.
inline constexpr std::uint32_t kPm2ErrorsExtended = 0x2;

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

  /// Rows of the byte layout: libibmad's IB_PC_*.
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
  static constexpr std::size_t kBytes = 184;
  PortNum port{};
  std::uint16_t select = 0;   ///< of a Set: counters that are written, bit 0 PortXmitData and so on
  std::uint32_t select2 = 0;  ///< the same from SymbolErrorCounter on
  std::uint64_t transmit_data = 0, receive_data = 0, transmit_packets = 0, receive_packets = 0;
  std::uint64_t unicast_transmitted = 0, unicast_received = 0, multicast_transmitted = 0,
                multicast_received = 0;
  // Where ClassPortInfo.CapabilityMask2 says kPm2ErrorsExtended.
  std::uint64_t symbol_errors = 0, link_recoveries = 0, link_downed = 0, receive_errors = 0,
                remote_physical_errors = 0, switch_relay_errors = 0, transmit_discards = 0,
                transmit_constraint_errors = 0, receive_constraint_errors = 0, link_integrity_errors = 0,
                buffer_overruns = 0, vl15_dropped = 0, transmit_wait = 0, qp1_dropped = 0;

  /// Rows of the byte layout: libibmad's IB_PC_EXT_*.
  static constexpr auto fields() {
    using T = PortCountersExtended;
    return std::tuple{field("PortSelect", &T::port, 8, 8),
                      field("CounterSelect", &T::select, 16, 16, Style::hex),
                      field("CounterSelect2", &T::select2, 32, 32, Style::hex),
                      field("PortXmitData", &T::transmit_data, 64, 64),
                      field("PortRcvData", &T::receive_data, 128, 64),
                      field("PortXmitPkts", &T::transmit_packets, 192, 64),
                      field("PortRcvPkts", &T::receive_packets, 256, 64),
                      field("PortUnicastXmitPkts", &T::unicast_transmitted, 320, 64),
                      field("PortUnicastRcvPkts", &T::unicast_received, 384, 64),
                      field("PortMulticastXmitPkts", &T::multicast_transmitted, 448, 64),
                      field("PortMulticastRcvPkts", &T::multicast_received, 512, 64),
                      field("SymbolErrorCounter", &T::symbol_errors, 576, 64),
                      field("LinkErrorRecoveryCounter", &T::link_recoveries, 640, 64),
                      field("LinkDownedCounter", &T::link_downed, 704, 64),
                      field("PortRcvErrors", &T::receive_errors, 768, 64),
                      field("PortRcvRemotePhysicalErrors", &T::remote_physical_errors, 832, 64),
                      field("PortRcvSwitchRelayErrors", &T::switch_relay_errors, 896, 64),
                      field("PortXmitDiscards", &T::transmit_discards, 960, 64),
                      field("PortXmitConstraintErrors", &T::transmit_constraint_errors, 1024, 64),
                      field("PortRcvConstraintErrors", &T::receive_constraint_errors, 1088, 64),
                      field("LocalLinkIntegrityErrors", &T::link_integrity_errors, 1152, 64),
                      field("ExcessiveBufferOverrunErrors", &T::buffer_overruns, 1216, 64),
                      field("VL15Dropped", &T::vl15_dropped, 1280, 64),
                      field("PortXmitWait", &T::transmit_wait, 1344, 64),
                      field("QP1Dropped", &T::qp1_dropped, 1408, 64)};
  }
  friend bool operator==(const PortCountersExtended&, const PortCountersExtended&) = default;
};
static_assert(well_formed<PortCountersExtended>());

/// What PortRcvErrors consists of.
struct PortReceiveErrorDetails {
  static constexpr std::uint16_t kAttribute = 0x0015;
  static constexpr std::string_view kName = "PortReceiveErrorDetails";
  static constexpr std::size_t kBytes = 16;
  PortNum port{};
  std::uint16_t select = 0;  ///< of a Set: counters that are written, bit 0 the first
  std::uint16_t local_physical = 0, malformed_packets = 0, buffer_overruns = 0, dlid_mapping = 0;
  std::uint16_t vl_mapping = 0, looping = 0;

  /// Rows of the byte layout: libibmad's IB_PC_*.
  static constexpr auto fields() {
    using T = PortReceiveErrorDetails;
    return std::tuple{field("PortSelect", &T::port, 8, 8),
                      field("CounterSelect", &T::select, 16, 16, Style::hex),
                      field("PortLocalPhysicalErrors", &T::local_physical, 32, 16),
                      field("PortMalformedPktErrors", &T::malformed_packets, 48, 16),
                      field("PortBufferOverrunErrors", &T::buffer_overruns, 64, 16),
                      field("PortDLIDMappingErrors", &T::dlid_mapping, 80, 16),
                      field("PortVLMappingErrors", &T::vl_mapping, 96, 16),
                      field("PortLoopingErrors", &T::looping, 112, 16)};
  }
  friend bool operator==(const PortReceiveErrorDetails&, const PortReceiveErrorDetails&) = default;
};
static_assert(well_formed<PortReceiveErrorDetails>());

/// What PortXmitDiscards consists of.
struct PortTransmitDiscardDetails {
  static constexpr std::uint16_t kAttribute = 0x0016;
  static constexpr std::string_view kName = "PortTransmitDiscardDetails";
  static constexpr std::size_t kBytes = 12;
  PortNum port{};
  std::uint16_t select = 0;
  std::uint16_t inactive = 0, neighbor_mtu = 0, switch_lifetime = 0, head_of_queue = 0;

  /// Rows of the byte layout: libibmad's IB_PC_*.
  static constexpr auto fields() {
    using T = PortTransmitDiscardDetails;
    return std::tuple{field("PortSelect", &T::port, 8, 8),
                      field("CounterSelect", &T::select, 16, 16, Style::hex),
                      field("PortInactiveDiscards", &T::inactive, 32, 16),
                      field("PortNeighborMTUDiscards", &T::neighbor_mtu, 48, 16),
                      field("PortSwLifetimeLimitDiscards", &T::switch_lifetime, 64, 16),
                      field("PortSwHOQLifetimeLimitDiscards", &T::head_of_queue, 80, 16)};
  }
  friend bool operator==(const PortTransmitDiscardDetails&, const PortTransmitDiscardDetails&) = default;
};
static_assert(well_formed<PortTransmitDiscardDetails>());

/// Of sampling, the part that says whether a port does it.
struct PortSamplesControl {
  static constexpr std::uint16_t kAttribute = 0x0010;
  static constexpr std::string_view kName = "PortSamplesControl";
  static constexpr std::size_t kBytes = 36;
  std::uint8_t op_code = 0;
  PortNum port{};
  std::uint8_t tick = 0, counter_width = 0, mechanisms = 0, status = 0;
  std::uint64_t option_mask = 0, vendor_mask = 0;
  std::uint32_t start = 0, interval = 0;

  /// Rows of the byte layout: libibmad's IB_PSC_*.
  static constexpr auto fields() {
    using T = PortSamplesControl;
    return std::tuple{field("OpCode", &T::op_code, 0, 8, Style::hex),
                      field("PortSelect", &T::port, 8, 8),
                      field("Tick", &T::tick, 16, 8, Style::hex),
                      field("CounterWidth", &T::counter_width, 29, 3),
                      field("SampleMechanisms", &T::mechanisms, 80, 8),
                      field("SampleStatus", &T::status, 94, 2),
                      field("OptionMask", &T::option_mask, 96, 64, Style::hex),
                      field("VendorMask", &T::vendor_mask, 160, 64, Style::hex),
                      field("SampleStart", &T::start, 224, 32, Style::hex),
                      field("SampleInterval", &T::interval, 256, 32, Style::hex)};
  }
  friend bool operator==(const PortSamplesControl&, const PortSamplesControl&) = default;
};
static_assert(well_formed<PortSamplesControl>());

}  // namespace smd::wire
