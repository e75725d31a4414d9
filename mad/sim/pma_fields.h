// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which counter each field of an attribute of performance management shows.

#include <cstdint>
#include <limits>

#include "mad/sim/counters.h"
#include "mad/wire/performance_optional.h"

namespace smd::sim {

/// Calls fn(counter, field, most it can show, bit of CounterSelect) for each; the bits are those of IBA's
/// table as libibmad's callers use them: the order of Counter.
template <class Fn>
void each(wire::PortCounters& c, Fn fn) {
  constexpr std::uint64_t k4 = 15, k8 = 0xFF, k16 = 0xFFFF, k32 = 0xFFFF'FFFF;
  fn(Counter::symbol_errors, c.symbol_errors, k16, 0U);
  fn(Counter::link_recoveries, c.link_recoveries, k8, 1U);
  fn(Counter::link_downed, c.link_downed, k8, 2U);
  fn(Counter::receive_errors, c.receive_errors, k16, 3U);
  fn(Counter::remote_physical_errors, c.remote_physical_errors, k16, 4U);
  fn(Counter::switch_relay_errors, c.switch_relay_errors, k16, 5U);
  fn(Counter::transmit_discards, c.transmit_discards, k16, 6U);
  fn(Counter::transmit_constraint_errors, c.transmit_constraint_errors, k8, 7U);
  fn(Counter::receive_constraint_errors, c.receive_constraint_errors, k8, 8U);
  fn(Counter::link_integrity_errors, c.link_integrity_errors, k4, 9U);
  fn(Counter::buffer_overruns, c.buffer_overruns, k4, 10U);
  fn(Counter::vl15_dropped, c.vl15_dropped, k16, 11U);
  fn(Counter::transmit_data, c.transmit_data, k32, 12U);
  fn(Counter::receive_data, c.receive_data, k32, 13U);
  fn(Counter::transmit_packets, c.transmit_packets, k32, 14U);
  fn(Counter::receive_packets, c.receive_packets, k32, 15U);
  fn(Counter::transmit_wait, c.transmit_wait, k32, 16U);  // CounterSelect2, bit 0
}

template <class Fn>
void each(wire::PortCountersExtended& c, Fn fn) {
  constexpr auto k64 = std::numeric_limits<std::uint64_t>::max();
  fn(Counter::transmit_data, c.transmit_data, k64, 0U);
  fn(Counter::receive_data, c.receive_data, k64, 1U);
  fn(Counter::transmit_packets, c.transmit_packets, k64, 2U);
  fn(Counter::receive_packets, c.receive_packets, k64, 3U);
  fn(Counter::unicast_transmitted, c.unicast_transmitted, k64, 4U);
  fn(Counter::unicast_received, c.unicast_received, k64, 5U);
  fn(Counter::multicast_transmitted, c.multicast_transmitted, k64, 6U);
  fn(Counter::multicast_received, c.multicast_received, k64, 7U);
  // CounterSelect2
  fn(Counter::symbol_errors, c.symbol_errors, k64, 32U);
  fn(Counter::link_recoveries, c.link_recoveries, k64, 33U);
  fn(Counter::link_downed, c.link_downed, k64, 34U);
  fn(Counter::receive_errors, c.receive_errors, k64, 35U);
  fn(Counter::remote_physical_errors, c.remote_physical_errors, k64, 36U);
  fn(Counter::switch_relay_errors, c.switch_relay_errors, k64, 37U);
  fn(Counter::transmit_discards, c.transmit_discards, k64, 38U);
  fn(Counter::transmit_constraint_errors, c.transmit_constraint_errors, k64, 39U);
  fn(Counter::receive_constraint_errors, c.receive_constraint_errors, k64, 40U);
  fn(Counter::link_integrity_errors, c.link_integrity_errors, k64, 41U);
  fn(Counter::buffer_overruns, c.buffer_overruns, k64, 42U);
  fn(Counter::vl15_dropped, c.vl15_dropped, k64, 43U);
  fn(Counter::transmit_wait, c.transmit_wait, k64, 44U);
}

/// A link has four lanes at most here.
template <class Fn>
void each(wire::PortExtendedSpeedsCounters& c, Fn fn) {
  constexpr std::uint64_t k16 = 0xFFFF, k32 = 0xFFFF'FFFF;
  constexpr unsigned kCorrected = 14, kUncorrected = 26;  // bits of lane 0
  const auto lane = [](Counter first, unsigned n) {
    return static_cast<Counter>(static_cast<unsigned>(first) + n);
  };
  fn(Counter::sync_header_errors, c.sync_header_errors, k16, 0U);
  fn(Counter::unknown_blocks, c.unknown_blocks, k16, 1U);
  for (unsigned n = 0; n < 4; ++n) {
    fn(lane(Counter::error_detection_lane0, n), c.error_detection[n], k16, 2 + n);
    fn(lane(Counter::fec_corrected_lane0, n), c.fec_corrected[n], k32, kCorrected + n);
    fn(lane(Counter::fec_uncorrected_lane0, n), c.fec_uncorrected[n], k32, kUncorrected + n);
  }
}

// Which kind of error it was is not modelled: all are of the kind that a bad cable makes.
template <class Fn>
void each(wire::PortReceiveErrorDetails& c, Fn fn) {
  fn(Counter::receive_errors, c.local_physical, std::uint64_t{0xFFFF}, 0U);
  fn(Counter::buffer_overruns, c.buffer_overruns, std::uint64_t{0xFFFF}, 2U);
}

template <class Fn>
void each(wire::PortTransmitDiscardDetails& c, Fn fn) {
  fn(Counter::transmit_discards, c.inactive, std::uint64_t{0xFFFF}, 0U);
}

inline std::uint64_t selection(const wire::PortReceiveErrorDetails& c) { return c.select; }
inline std::uint64_t selection(const wire::PortTransmitDiscardDetails& c) { return c.select; }
inline std::uint64_t selection(const wire::PortCounters& c) { return c.select | ((c.select2 & 1U) << 16U); }
inline std::uint64_t selection(const wire::PortCountersExtended& c) {
  return c.select | std::uint64_t{c.select2} << 32U;
}
inline std::uint64_t selection(const wire::PortExtendedSpeedsCounters& c) { return c.select; }

}  // namespace smd::sim
