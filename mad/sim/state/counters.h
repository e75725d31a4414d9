// SPDX-License-Identifier: Apache-2.0
#pragma once
// The counters of a port, those of performance management (mad/sim/agents/pma.h shows them). They stand still
// until a fault or traffic moves them.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mad/clock.h"

namespace smd::sim {

/// One that ends in `0` is followed by those of the other VLs, SLs or lanes: vl_waits0 + 3 is that of VL 3.
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
  fec_corrected_lane0 = error_detection_lane0 + 4,
  fec_uncorrected_lane0 = fec_corrected_lane0 + 4,
  qp1_dropped = fec_uncorrected_lane0 + 4,  ///< from here on: few ports have them
  malformed_packets,                        ///< of receive_errors
  dlid_mapping_errors,                      ///< of switch_relay_errors, as the next two
  vl_mapping_errors,
  looping_errors,
  neighbor_mtu_discards,  ///< of transmit_discards, as the next two
  switch_lifetime_discards,
  head_of_queue_discards,
  op_receive_packets,  ///< of unreliable datagrams, which is all there is here; so vl_op_packets, vl_op_data
  op_receive_data,
  flow_packets_transmitted,
  flow_packets_received,
  fecn_received,
  becn_received,
  transmit_time_congested,
  transmit_data_sl0,
  receive_data_sl0 = transmit_data_sl0 + 16,
  vl_op_packets0 = receive_data_sl0 + 16,
  vl_op_data0 = vl_op_packets0 + 16,
  flow_update_errors0 = vl_op_data0 + 16,
  vl_waits0 = flow_update_errors0 + 16,
  vl_congestion0 = vl_waits0 + 16,
  sl_fecn0 = vl_congestion0 + 16,
  sl_becn0 = sl_fecn0 + 16,
  vl_time_congested0 = sl_becn0 + 16,
};
constexpr Counter operator+(Counter first, unsigned number) {
  return static_cast<Counter>(static_cast<unsigned>(first) + number);
}

inline constexpr unsigned kCounters = static_cast<unsigned>(Counter::vl_time_congested0) + 15;
static_assert(kCounters <= 256);

/// Names as perfquery prints them (libibmad's fields.c), without the extended ones' other spelling.
std::string name_of(Counter counter);
/// Nothing where no counter has this name (case-sensitive).
std::optional<Counter> counter_of(std::string_view name);
/// All of them: "SymbolErrorCounter, …, XmtDataSL0 to 15".
std::string counter_names();

/// 64 bits wide; what a query shows of them is cut by its attribute.
class PortCounters {
 public:
  /// At `now`: its value with its own growth since set, at most 2^64 - 1.
  std::uint64_t read(Counter counter, mad::TimePoint now) const;
  /// By how much it grows by itself in a second; 0: it does not.
  double rate(Counter counter) const;
  void add(Counter counter, std::uint64_t more) { value(counter) += more; }  ///< beyond 2^64 - 1 it wraps
  /// From now on it grows by itself from this value.
  void set(Counter counter, std::uint64_t value, double per_second, mad::TimePoint now);

  std::uint64_t ramp = 0;  ///< number of the timer that raises this port's traps 129 and 130; 0: none

 private:
  struct Growth {
    Counter counter{};
    double per_second = 0;
    mad::TimePoint since{};
  };
  static constexpr std::size_t kCommon = static_cast<std::size_t>(Counter::qp1_dropped);
  std::uint64_t& value(Counter counter);
  std::uint64_t value(Counter counter) const;
  const Growth* growth(Counter counter) const;

  std::array<std::uint64_t, kCommon> common_{};
  std::vector<std::pair<Counter, std::uint64_t>> rare_;  ///< those that were not always 0
  std::vector<Growth> growing_;
};

}  // namespace smd::sim
