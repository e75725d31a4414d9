// SPDX-License-Identifier: Apache-2.0
#pragma once
// The counters of a port, those of performance management (mad/sim/pma.h shows them). They stand still until
// a fault or traffic moves them.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "mad/clock.h"

namespace smd::sim {

/// In the order of kCounterNames.
enum class Counter : std::uint8_t {
  symbol_errors,
  link_recoveries,
  link_downed,
  receive_errors,
  remote_physical_errors,
  switch_relay_errors,
  transmit_discards,
  transmit_constraint_errors,
  receive_constraint_errors,
  link_integrity_errors,  ///< each of them raises trap 129
  buffer_overruns,        ///< each of them raises trap 130
  vl15_dropped,
  transmit_data,
  receive_data,
  transmit_packets,
  receive_packets,
  transmit_wait,
  unicast_transmitted,
  unicast_received,
  multicast_transmitted,
  multicast_received,
  sync_header_errors,  ///< from here on: of links with 64/66 coding (PortExtendedSpeedsCounters)
  unknown_blocks,
  error_detection_lane0,
  error_detection_lane1,
  error_detection_lane2,
  error_detection_lane3,
  fec_corrected_lane0,
  fec_corrected_lane1,
  fec_corrected_lane2,
  fec_corrected_lane3,
  fec_uncorrected_lane0,
  fec_uncorrected_lane1,
  fec_uncorrected_lane2,
  fec_uncorrected_lane3,
};

/// As perfquery prints them (libibmad's fields.c), without the extended ones' other spelling.
inline constexpr std::array<std::string_view, 35> kCounterNames{"SymbolErrorCounter",
                                                                "LinkErrorRecoveryCounter",
                                                                "LinkDownedCounter",
                                                                "PortRcvErrors",
                                                                "PortRcvRemotePhysicalErrors",
                                                                "PortRcvSwitchRelayErrors",
                                                                "PortXmitDiscards",
                                                                "PortXmitConstraintErrors",
                                                                "PortRcvConstraintErrors",
                                                                "LocalLinkIntegrityErrors",
                                                                "ExcessiveBufferOverrunErrors",
                                                                "VL15Dropped",
                                                                "PortXmitData",
                                                                "PortRcvData",
                                                                "PortXmitPkts",
                                                                "PortRcvPkts",
                                                                "PortXmitWait",
                                                                "PortUnicastXmitPkts",
                                                                "PortUnicastRcvPkts",
                                                                "PortMulticastXmitPkts",
                                                                "PortMulticastRcvPkts",
                                                                "SyncHeaderErrorCounter",
                                                                "UnknownBlockCounter",
                                                                "ErrorDetectionCounterLane0",
                                                                "ErrorDetectionCounterLane1",
                                                                "ErrorDetectionCounterLane2",
                                                                "ErrorDetectionCounterLane3",
                                                                "FECCorrectableBlockCtrLane0",
                                                                "FECCorrectableBlockCtrLane1",
                                                                "FECCorrectableBlockCtrLane2",
                                                                "FECCorrectableBlockCtrLane3",
                                                                "FECUncorrectableBlockCtrLane0",
                                                                "FECUncorrectableBlockCtrLane1",
                                                                "FECUncorrectableBlockCtrLane2",
                                                                "FECUncorrectableBlockCtrLane3"};
static_assert(kCounterNames.size() == static_cast<std::size_t>(Counter::fec_uncorrected_lane3) + 1);

std::optional<Counter> counter_of(std::string_view name);

/// Words of 4 bytes by SL. Their attributes have 32 bits a counter, which stays at its end.
struct DataBySl {
  std::array<std::uint32_t, 16> sent{}, received{};
};

/// 64 bits wide; what a query shows of them is cut by its attribute.
class PortCounters {
 public:
  std::uint64_t read(Counter counter, mad::TimePoint now) const;
  /// At which it grows by itself, a second.
  double rate(Counter counter) const;
  void add(Counter counter, std::uint64_t more) { values_[index(counter)] += more; }
  /// From now on it grows by itself from this value.
  void set(Counter counter, std::uint64_t value, double per_second, mad::TimePoint now);

  DataBySl by_sl;
  std::uint64_t ramp = 0;  ///< number of the timer that raises this port's traps 129 and 130; 0: none

 private:
  struct Growth {
    Counter counter{};
    double per_second = 0;
    mad::TimePoint since{};
  };
  static std::size_t index(Counter counter) { return static_cast<std::size_t>(counter); }
  const Growth* growth(Counter counter) const;

  std::array<std::uint64_t, kCounterNames.size()> values_{};
  std::vector<Growth> growing_;
};

}  // namespace smd::sim
