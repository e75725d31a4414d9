// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/state/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace smd::sim {
namespace {

struct CounterName {
  std::string_view name;
  Counter first;
  unsigned count = 1;  ///< more: the name is followed by a number from 0 on
};

constexpr std::array kNames{CounterName{"SymbolErrorCounter", Counter::symbol_errors},
                            CounterName{"LinkErrorRecoveryCounter", Counter::link_recoveries},
                            CounterName{"LinkDownedCounter", Counter::link_downed},
                            CounterName{"PortRcvErrors", Counter::receive_errors},
                            CounterName{"PortRcvRemotePhysicalErrors", Counter::remote_physical_errors},
                            CounterName{"PortRcvSwitchRelayErrors", Counter::switch_relay_errors},
                            CounterName{"PortXmitDiscards", Counter::transmit_discards},
                            CounterName{"PortXmitConstraintErrors", Counter::transmit_constraint_errors},
                            CounterName{"PortRcvConstraintErrors", Counter::receive_constraint_errors},
                            CounterName{"LocalLinkIntegrityErrors", Counter::link_integrity_errors},
                            CounterName{"ExcessiveBufferOverrunErrors", Counter::buffer_overruns},
                            CounterName{"VL15Dropped", Counter::vl15_dropped},
                            CounterName{"PortXmitData", Counter::transmit_data},
                            CounterName{"PortRcvData", Counter::receive_data},
                            CounterName{"PortXmitPkts", Counter::transmit_packets},
                            CounterName{"PortRcvPkts", Counter::receive_packets},
                            CounterName{"PortXmitWait", Counter::transmit_wait},
                            CounterName{"PortUnicastXmitPkts", Counter::unicast_transmitted},
                            CounterName{"PortUnicastRcvPkts", Counter::unicast_received},
                            CounterName{"PortMulticastXmitPkts", Counter::multicast_transmitted},
                            CounterName{"PortMulticastRcvPkts", Counter::multicast_received},
                            CounterName{"SyncHeaderErrorCounter", Counter::sync_header_errors},
                            CounterName{"UnknownBlockCounter", Counter::unknown_blocks},
                            CounterName{"ErrorDetectionCounterLane", Counter::error_detection_lane0, 4},
                            CounterName{"FECCorrectableBlockCtrLane", Counter::fec_corrected_lane0, 4},
                            CounterName{"FECUncorrectableBlockCtrLane", Counter::fec_uncorrected_lane0, 4},
                            CounterName{"QP1Dropped", Counter::qp1_dropped},
                            CounterName{"PortMalformedPktErrors", Counter::malformed_packets},
                            CounterName{"PortDLIDMappingErrors", Counter::dlid_mapping_errors},
                            CounterName{"PortVLMappingErrors", Counter::vl_mapping_errors},
                            CounterName{"PortLoopingErrors", Counter::looping_errors},
                            CounterName{"PortNeighborMTUDiscards", Counter::neighbor_mtu_discards},
                            CounterName{"PortSwLifetimeLimitDiscards", Counter::switch_lifetime_discards},
                            CounterName{"PortSwHOQLifetimeLimitDiscards", Counter::head_of_queue_discards},
                            CounterName{"PortOpRcvPkts", Counter::op_receive_packets},
                            CounterName{"PortOpRcvData", Counter::op_receive_data},
                            CounterName{"PortXmitFlowPkts", Counter::flow_packets_transmitted},
                            CounterName{"PortRcvFlowPkts", Counter::flow_packets_received},
                            CounterName{"PortPktRcvFECN", Counter::fecn_received},
                            CounterName{"PortPktRcvBECN", Counter::becn_received},
                            CounterName{"PortXmitTimeCong", Counter::transmit_time_congested},
                            CounterName{"XmtDataSL", Counter::transmit_data_sl0, 16},
                            CounterName{"RcvDataSL", Counter::receive_data_sl0, 16},
                            CounterName{"PortVLOpPackets", Counter::vl_op_packets0, 16},
                            CounterName{"PortVLOpData", Counter::vl_op_data0, 16},
                            CounterName{"PortVLXmitFlowCtlUpdateErrors", Counter::flow_update_errors0, 16},
                            CounterName{"PortVLXmitWait", Counter::vl_waits0, 16},
                            CounterName{"SWPortVLCongestion", Counter::vl_congestion0, 16},
                            CounterName{"PortSLRcvFECN", Counter::sl_fecn0, 16},
                            CounterName{"PortSLRcvBECN", Counter::sl_becn0, 16},
                            CounterName{"PortVLXmitTimeCong", Counter::vl_time_congested0, 15}};

/// Every counter has one name, in the order of the enumeration.
consteval bool are_complete() {
  unsigned next = 0;
  for (const auto& row : kNames) {
    if (static_cast<unsigned>(row.first) != next) return false;
    next += row.count;
  }
  return next == kCounters;
}
static_assert(are_complete());

}  // namespace

std::string name_of(Counter counter) {
  for (const auto& row : kNames) {
    const auto number = static_cast<unsigned>(counter) - static_cast<unsigned>(row.first);
    if (counter < row.first || number >= row.count) continue;
    return row.count == 1 ? std::string(row.name) : fmt::format("{}{}", row.name, number);
  }
  return "unknown";
}

std::optional<Counter> counter_of(std::string_view name) {
  for (unsigned i = 0; i < kCounters; ++i) {
    if (name_of(static_cast<Counter>(i)) == name) return static_cast<Counter>(i);
  }
  return std::nullopt;
}

std::string counter_names() {
  std::string text;
  for (const auto& row : kNames) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", row.name);
    if (row.count > 1) text += fmt::format("0 to {}", row.count - 1);
  }
  return text;
}

std::uint64_t& PortCounters::value(Counter counter) {
  const auto index = static_cast<std::size_t>(counter);
  if (index < kCommon) return common_[index];
  const auto found = std::ranges::find(rare_, counter, &std::pair<Counter, std::uint64_t>::first);
  return found != rare_.end() ? found->second : rare_.emplace_back(counter, 0).second;
}

std::uint64_t PortCounters::value(Counter counter) const {
  const auto index = static_cast<std::size_t>(counter);
  if (index < kCommon) return common_[index];
  const auto found = std::ranges::find(rare_, counter, &std::pair<Counter, std::uint64_t>::first);
  return found != rare_.end() ? found->second : 0;
}

const PortCounters::Growth* PortCounters::growth(Counter counter) const {
  const auto found = std::ranges::find(growing_, counter, &Growth::counter);
  return found == growing_.end() ? nullptr : &*found;
}

double PortCounters::rate(Counter counter) const {
  const auto* grows = growth(counter);
  return grows == nullptr ? 0 : grows->per_second;
}

std::uint64_t PortCounters::read(Counter counter, mad::TimePoint now) const {
  const auto start = value(counter);
  const auto* grows = growth(counter);
  if (grows == nullptr) return start;
  const std::chrono::duration<double> time = now - grows->since;
  // A double above this has no place in 64 bits.
  constexpr double kMost = 18446744073709549568.0;
  const auto more = static_cast<std::uint64_t>(std::clamp(grows->per_second * time.count(), 0.0, kMost));
  return start + std::min(more, std::numeric_limits<std::uint64_t>::max() - start);
}

void PortCounters::set(Counter counter, std::uint64_t start, double per_second, mad::TimePoint now) {
  if (start != 0 || std::as_const(*this).value(counter) != 0) value(counter) = start;
  std::erase_if(growing_, [&](const Growth& g) { return g.counter == counter; });
  if (per_second > 0) growing_.push_back({counter, per_second, now});
}

}  // namespace smd::sim
