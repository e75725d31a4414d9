// SPDX-License-Identifier: Apache-2.0
#pragma once
// The counters of a port, those of performance management (mad/sim/pma.h shows them). They stand still until
// a fault or traffic moves them.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

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
};

/// As perfquery prints them (libibmad's mad_dump_perfcounters), without the extended ones' other spelling.
inline constexpr std::array<std::string_view, 21> kCounterNames{"SymbolErrorCounter",
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
                                                                "PortMulticastRcvPkts"};

std::optional<Counter> counter_of(std::string_view name);

/// 64 bits wide; what a query shows of them is cut by its attribute.
class PortCounters {
 public:
  std::uint64_t read(Counter counter, mad::TimePoint now) const;
  double rate(Counter counter) const { return rates_[index(counter)]; }
  void add(Counter counter, std::uint64_t more) { values_[index(counter)] += more; }
  /// From now on it grows by itself from this value.
  void set(Counter counter, std::uint64_t value, double per_second, mad::TimePoint now);

  std::uint64_t ramp = 0;  ///< number of the timer that raises this port's traps 129 and 130; 0: none

 private:
  static std::size_t index(Counter counter) { return static_cast<std::size_t>(counter); }

  std::array<std::uint64_t, kCounterNames.size()> values_{};
  std::array<double, kCounterNames.size()> rates_{};
  std::array<mad::TimePoint, kCounterNames.size()> since_{};
};

}  // namespace smd::sim
