// SPDX-License-Identifier: Apache-2.0
#pragma once
// Attributes of performance management that a device may have. Which it has says the OptionMask of its
// PortSamplesControl; those of one counter a VL or SL: mad/wire/performance_lanes.h. Layout: libibmad's
// IB_PC_* and IB_PESC_*; OpCode and the bits of CounterSelect: Intel's opa-ff (PortOpRcvCounters,
// PortVLCounters16).

#include <array>

#include "mad/wire/performance.h"

namespace smd::wire {

// Bits of PortSamplesControl.OptionMask, as Intel's opa-ff (PMA_OptionMask_t) and ibutils 2
// (PortSampleControlOptionMask) have them; the four of extended counters and the last only the latter.
inline constexpr std::uint64_t kOptionReceiveErrorDetails = 0x3FULL << 6,
                               kOptionDiscardDetails = 0xFULL << 12, kOptionOpReceiveCounters = 0x3ULL << 16,
                               kOptionFlowControl = 0x3ULL << 18, kOptionVlOpCounters = 0x3ULL << 20,
                               kOptionFlowUpdateErrors = 1ULL << 22, kOptionVlWaits = 1ULL << 23,
                               kOptionPacketsByKind = 0xFULL << 24, kOptionExtendedSpeeds = 1ULL << 28,
                               kOptionSwitchVlCongestion = 1ULL << 48,
                               kOptionCongestionControl = 0x3FULL << 49, kOptionDataSl = 0x3ULL << 55;

/// Errors of a link with 64/66 coding (FDR and faster), by lane.
struct PortExtendedSpeedsCounters {
  static constexpr std::uint16_t kAttribute = 0x001F;
  static constexpr std::string_view kName = "PortExtendedSpeedsCounters";
  static constexpr std::size_t kBytes = 140;
  static constexpr std::size_t kLanes = 12;
  PortNum port{};
  std::uint64_t select = 0;  ///< of a Set: bit 0 SyncHeaderErrorCounter and so on, each lane one
  std::uint16_t sync_header_errors = 0, unknown_blocks = 0;
  std::array<std::uint16_t, kLanes> error_detection{};
  std::array<std::uint32_t, kLanes> fec_corrected{}, fec_uncorrected{};

  /// Rows of the byte layout: libibmad's IB_PESC_*.
  static constexpr auto fields() {
    using T = PortExtendedSpeedsCounters;
    return std::tuple{field("PortSelect", &T::port, 8, 8),
                      field("CounterSelect", &T::select, 64, 64, Style::hex),
                      field("SyncHeaderErrorCounter", &T::sync_header_errors, 128, 16),
                      field("UnknownBlockCounter", &T::unknown_blocks, 144, 16),
                      array_field("ErrorDetectionCounterLane", &T::error_detection, 160, 16),
                      array_field("FECCorrectableBlockCtrLane", &T::fec_corrected, 352, 32),
                      array_field("FECUncorrectableBlockCtrLane", &T::fec_uncorrected, 736, 32)};
  }
  friend bool operator==(const PortExtendedSpeedsCounters&, const PortExtendedSpeedsCounters&) = default;
};
static_assert(well_formed<PortExtendedSpeedsCounters>());

/// What has come in with the operation code of the base transport header that the question names.
struct PortOpReceiveCounters {
  static constexpr std::uint16_t kAttribute = 0x0017;
  static constexpr std::string_view kName = "PortOpRcvCounters";
  static constexpr std::size_t kBytes = 12;
  std::uint8_t op_code = 0;
  PortNum port{};
  std::uint16_t select = 0;  ///< of a Set: bit 0 is the first counter
  std::uint32_t packets = 0, data = 0;

  /// Rows of the byte layout: libibmad's IB_PC_*; OpCode: Intel's opa-ff (PortOpRcvCounters).
  static constexpr auto fields() {
    using T = PortOpReceiveCounters;
    return std::tuple{field("OpCode", &T::op_code, 0, 8, Style::hex), field("PortSelect", &T::port, 8, 8),
                      field("CounterSelect", &T::select, 16, 16, Style::hex),
                      field("PortOpRcvPkts", &T::packets, 32, 32), field("PortOpRcvData", &T::data, 64, 32)};
  }
  friend bool operator==(const PortOpReceiveCounters&, const PortOpReceiveCounters&) = default;
};
static_assert(well_formed<PortOpReceiveCounters>());

/// Packets of flow control.
struct PortFlowControlCounters {
  static constexpr std::uint16_t kAttribute = 0x0018;
  static constexpr std::string_view kName = "PortFlowCtlCounters";
  static constexpr std::size_t kBytes = 12;
  PortNum port{};
  std::uint16_t select = 0;
  std::uint32_t transmitted = 0, received = 0;

  /// Rows of the byte layout: libibmad's IB_PC_*.
  static constexpr auto fields() {
    using T = PortFlowControlCounters;
    return std::tuple{
        field("PortSelect", &T::port, 8, 8), field("CounterSelect", &T::select, 16, 16, Style::hex),
        field("PortXmitFlowPkts", &T::transmitted, 32, 32), field("PortRcvFlowPkts", &T::received, 64, 32)};
  }
  friend bool operator==(const PortFlowControlCounters&, const PortFlowControlCounters&) = default;
};
static_assert(well_formed<PortFlowControlCounters>());

/// Packets that told of congestion, forwards and backwards.
struct PortReceiveCongestion {
  static constexpr std::uint16_t kAttribute = 0x0031;
  static constexpr std::string_view kName = "PortRcvConCtrl";
  static constexpr std::size_t kBytes = 12;
  PortNum port{};
  std::uint16_t select = 0;
  std::uint32_t fecn = 0, becn = 0;

  /// Rows of the byte layout: libibmad's IB_PC_*.
  static constexpr auto fields() {
    using T = PortReceiveCongestion;
    return std::tuple{field("PortSelect", &T::port, 8, 8),
                      field("CounterSelect", &T::select, 16, 16, Style::hex),
                      field("PortPktRcvFECN", &T::fecn, 32, 32), field("PortPktRcvBECN", &T::becn, 64, 32)};
  }
  friend bool operator==(const PortReceiveCongestion&, const PortReceiveCongestion&) = default;
};
static_assert(well_formed<PortReceiveCongestion>());

/// Time that a port was congested.
struct PortTransmitCongestion {
  static constexpr std::uint16_t kAttribute = 0x0034;
  static constexpr std::string_view kName = "PortXmitConCtrl";
  static constexpr std::size_t kBytes = 8;
  PortNum port{};
  std::uint16_t select = 0;
  std::uint32_t time = 0;

  /// Rows of the byte layout: libibmad's IB_PC_*.
  static constexpr auto fields() {
    using T = PortTransmitCongestion;
    return std::tuple{field("PortSelect", &T::port, 8, 8),
                      field("CounterSelect", &T::select, 16, 16, Style::hex),
                      field("PortXmitTimeCong", &T::time, 32, 32)};
  }
  friend bool operator==(const PortTransmitCongestion&, const PortTransmitCongestion&) = default;
};
static_assert(well_formed<PortTransmitCongestion>());

}  // namespace smd::wire
