// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which counter each field of an attribute of performance management shows.

#include <cstdint>
#include <limits>

#include "mad/sim/state/counters.h"
#include "mad/wire/performance_lanes.h"
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

/// The 64-bit counters, with their bits of CounterSelect and CounterSelect2.
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
  fn(Counter::qp1_dropped, c.qp1_dropped, k64, 45U);
}

/// Error counters by lane, 16 and 32 bits; a link has four lanes at most here.
template <class Fn>
void each(wire::PortExtendedSpeedsCounters& c, Fn fn) {
  constexpr std::uint64_t k16 = 0xFFFF, k32 = 0xFFFF'FFFF;
  constexpr unsigned kCorrected = 14, kUncorrected = 26;  // bits of lane 0
  fn(Counter::sync_header_errors, c.sync_header_errors, k16, 0U);
  fn(Counter::unknown_blocks, c.unknown_blocks, k16, 1U);
  for (unsigned n = 0; n < 4; ++n) {
    fn(Counter::error_detection_lane0 + n, c.error_detection[n], k16, 2 + n);
    fn(Counter::fec_corrected_lane0 + n, c.fec_corrected[n], k32, kCorrected + n);
    fn(Counter::fec_uncorrected_lane0 + n, c.fec_uncorrected[n], k32, kUncorrected + n);
  }
}

// Nothing here makes other errors and discards than a bad cable and a link that is down.
/// Details of PortRcvErrors, 16 bits each.
template <class Fn>
void each(wire::PortReceiveErrorDetails& c, Fn fn) {
  constexpr std::uint64_t k16 = 0xFFFF;
  fn(Counter::receive_errors, c.local_physical, k16, 0U);
  fn(Counter::malformed_packets, c.malformed_packets, k16, 1U);
  fn(Counter::buffer_overruns, c.buffer_overruns, k16, 2U);
  fn(Counter::dlid_mapping_errors, c.dlid_mapping, k16, 3U);
  fn(Counter::vl_mapping_errors, c.vl_mapping, k16, 4U);
  fn(Counter::looping_errors, c.looping, k16, 5U);
}

/// The counters by cause of PortXmitDiscards, 16 bits each.
template <class Fn>
void each(wire::PortTransmitDiscardDetails& c, Fn fn) {
  constexpr std::uint64_t k16 = 0xFFFF;
  fn(Counter::transmit_discards, c.inactive, k16, 0U);
  fn(Counter::neighbor_mtu_discards, c.neighbor_mtu, k16, 1U);
  fn(Counter::switch_lifetime_discards, c.switch_lifetime, k16, 2U);
  fn(Counter::head_of_queue_discards, c.head_of_queue, k16, 3U);
}

constexpr std::uint64_t k32Bits = 0xFFFF'FFFF;
/// Two counters of 32 bits.
template <class Fn>
void each(wire::PortOpReceiveCounters& c, Fn fn) {
  fn(Counter::op_receive_packets, c.packets, k32Bits, 0U);
  fn(Counter::op_receive_data, c.data, k32Bits, 1U);
}
/// Two counters of 32 bits.
template <class Fn>
void each(wire::PortFlowControlCounters& c, Fn fn) {
  fn(Counter::flow_packets_transmitted, c.transmitted, k32Bits, 0U);
  fn(Counter::flow_packets_received, c.received, k32Bits, 1U);
}
/// Two counters of 32 bits.
template <class Fn>
void each(wire::PortReceiveCongestion& c, Fn fn) {
  fn(Counter::fecn_received, c.fecn, k32Bits, 0U);
  fn(Counter::becn_received, c.becn, k32Bits, 1U);
}
/// One counter of 32 bits.
template <class Fn>
void each(wire::PortTransmitCongestion& c, Fn fn) {
  fn(Counter::transmit_time_congested, c.time, k32Bits, 0U);
}

/// The counter of lane 0 (a VL or an SL) that the attribute shows; those of lanes 1, 2, … follow it.
constexpr Counter first_of(const wire::PortVlOpPackets&) { return Counter::vl_op_packets0; }
constexpr Counter first_of(const wire::PortVlOpData&) { return Counter::vl_op_data0; }
constexpr Counter first_of(const wire::PortVlFlowUpdateErrors&) { return Counter::flow_update_errors0; }
constexpr Counter first_of(const wire::PortVlWaits&) { return Counter::vl_waits0; }
constexpr Counter first_of(const wire::SwitchPortVlCongestion&) { return Counter::vl_congestion0; }
constexpr Counter first_of(const wire::PortSlFecn&) { return Counter::sl_fecn0; }
constexpr Counter first_of(const wire::PortSlBecn&) { return Counter::sl_becn0; }
constexpr Counter first_of(const wire::PortVlTimeCongested&) { return Counter::vl_time_congested0; }
constexpr Counter first_of(const wire::PortTransmitDataSl&) { return Counter::transmit_data_sl0; }
constexpr Counter first_of(const wire::PortReceiveDataSl&) { return Counter::receive_data_sl0; }

/// The counters of all lanes (VLs or SLs), Kind::kBits wide; lane n is bit n of CounterSelect.
template <class Kind, class Fn>
void each(wire::CountersByLane<Kind>& c, Fn fn) {
  for (unsigned lane = 0; lane < Kind::kLanes; ++lane)
    fn(first_of(c) + lane, c.counters[lane], (std::uint64_t{1} << Kind::kBits) - 1, lane);
}

/// The counters are those of packets with the OpCode of the question.
template <class A>
inline constexpr bool kByOpCode = false;
template <>
inline constexpr bool kByOpCode<wire::PortOpReceiveCounters> = true;
template <class Kind>
inline constexpr bool kByOpCode<wire::CountersByLane<Kind>> = Kind::kByOpCode;

/// The CounterSelect of a query, bit n for the counter of bit n in each().
template <class A>
std::uint64_t selection(const A& c) {
  return c.select;
}
/// The same; bit 0 of CounterSelect2 is bit 16 of the result.
inline std::uint64_t selection(const wire::PortCounters& c) { return c.select | ((c.select2 & 1U) << 16U); }
/// The same; CounterSelect2 begins at bit 32 of the result.
inline std::uint64_t selection(const wire::PortCountersExtended& c) {
  return c.select | std::uint64_t{c.select2} << 32U;
}

}  // namespace smd::sim
