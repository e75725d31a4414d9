// SPDX-License-Identifier: Apache-2.0
#pragma once
// Attributes of performance management that a device may have. Which it has says the OptionMask of its
// PortSamplesControl. Layout: libibmad's IB_PC_* and IB_PESC_*.

#include <array>

#include "mad/wire/performance.h"

namespace smd::wire {

// Bits of PortSamplesControl.OptionMask, as Intel's opa-ff (PMA_OptionMask_t) and ibutils 2
// (PortSampleControlOptionMask) have them; the four of extended counters and the last only the latter.
inline constexpr std::uint64_t kOptionReceiveErrorDetails = 0x3FULL << 6,
                               kOptionDiscardDetails = 0xFULL << 12, kOptionPacketsByKind = 0xFULL << 24,
                               kOptionExtendedSpeeds = 1ULL << 28, kOptionTransmitDataSl = 1ULL << 55,
                               kOptionReceiveDataSl = 1ULL << 56;

/// What has left by each SL, in words of 4 bytes.
struct PortTransmitDataSl {
  static constexpr std::uint16_t kAttribute = 0x0036;
  static constexpr std::string_view kName = "PortXmitDataSL";
  static constexpr std::size_t kBytes = 68;
  PortNum port{};
  std::uint16_t select = 0;  ///< of a Set: bit n is SL n
  std::array<std::uint32_t, 16> data{};

  static constexpr auto fields() {
    using T = PortTransmitDataSl;
    return std::tuple{field("PortSelect", &T::port, 8, 8),
                      field("CounterSelect", &T::select, 16, 16, Style::hex),
                      array_field("XmtDataSL", &T::data, 32, 32)};
  }
  friend bool operator==(const PortTransmitDataSl&, const PortTransmitDataSl&) = default;
};
static_assert(well_formed<PortTransmitDataSl>());

/// What has come in by each SL.
struct PortReceiveDataSl {
  static constexpr std::uint16_t kAttribute = 0x0037;
  static constexpr std::string_view kName = "PortRcvDataSL";
  static constexpr std::size_t kBytes = 68;
  PortNum port{};
  std::uint16_t select = 0;
  std::array<std::uint32_t, 16> data{};

  static constexpr auto fields() {
    using T = PortReceiveDataSl;
    return std::tuple{field("PortSelect", &T::port, 8, 8),
                      field("CounterSelect", &T::select, 16, 16, Style::hex),
                      array_field("RcvDataSL", &T::data, 32, 32)};
  }
  friend bool operator==(const PortReceiveDataSl&, const PortReceiveDataSl&) = default;
};
static_assert(well_formed<PortReceiveDataSl>());

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

}  // namespace smd::wire
