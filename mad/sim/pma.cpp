// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/pma.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "mad/wire/class_port_info.h"
#include "mad/wire/performance.h"

namespace smd::sim {
namespace {

using wire::Method;

/// Ports that PortSelect means; none: the node has no such port.
std::vector<PortIndex> selected(const State& state, PortIndex at, PortNum select) {
  const auto& node = state.node_of(at);
  std::vector<PortIndex> ports;
  if (select == wire::kAllPorts) {
    for (unsigned number = 1; number <= node.ports; ++number) ports.push_back(state.index(node, number));
  } else if (select.value() <= node.ports && (select != PortNum{0} || node.is_switch())) {
    ports.push_back(state.index(node, select.value()));
  }
  return ports;
}

/// One request, with all its ports.
class Query {
 public:
  Query(State& state, std::vector<PortIndex> ports) : state_(state), ports_(std::move(ports)) {}

  /// Sum over the ports; a counter that has reached its end stays there.
  template <class Number>
  void read(Counter counter, Number& field, std::uint64_t most = std::numeric_limits<Number>::max()) const {
    std::uint64_t sum = 0;
    for (const auto port : ports_) {
      const auto& tables = state_.ports[port].tables;
      if (tables && tables->counters) sum += tables->counters->read(counter, state_.now);
    }
    field = static_cast<Number>(std::min(sum, most));
  }
  void write(Counter counter, bool chosen, std::uint64_t value) {
    if (!chosen) return;
    for (const auto port : ports_) {
      const auto& tables = state_.ports[port].tables;
      if (value == 0 && (!tables || !tables->counters)) continue;
      auto& counters = counters_of(state_, port);
      counters.set(counter, value, counters.rate(counter), state_.now);
    }
  }

 private:
  State& state_;
  std::vector<PortIndex> ports_;
};

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

std::uint32_t selection(const wire::PortReceiveErrorDetails& c) { return c.select; }
std::uint32_t selection(const wire::PortTransmitDiscardDetails& c) { return c.select; }
std::uint32_t selection(const wire::PortCounters& c) { return c.select | ((c.select2 & 1U) << 16U); }
std::uint32_t selection(const wire::PortCountersExtended& c) { return c.select; }

template <class A>
std::uint16_t counters(State& state, PortIndex at, bool set, std::span<std::uint8_t> data) {
  auto value = wire::decode<A>(data).value_or(A{});
  auto ports = selected(state, at, value.port);
  if (ports.empty()) return wire::kStatusBadField;
  Query query(state, std::move(ports));
  const auto chosen = selection(value);
  each(value, [&](Counter counter, auto& field, std::uint64_t most, unsigned bit) {
    if (set) query.write(counter, ((chosen >> bit) & 1U) != 0, field);
    query.read(counter, field, most);
  });
  wire::encode(value, data);
  return wire::kStatusOk;
}

std::uint16_t class_port_info(std::span<std::uint8_t> data) {
  wire::ClassPortInfo info;
  info.base_version = 1;
  info.class_version = 1;
  info.capability_mask = wire::kPmAllPortSelect | wire::kPmExtendedWidth | wire::kPmXmitWait;
  info.resp_time = 18;
  wire::encode(info, data);
  return wire::kStatusOk;
}

/// The port samples nothing: no counters to choose from, and no sampling under way.
std::uint16_t samples_control(const State& state, PortIndex at, std::span<std::uint8_t> data) {
  const auto asked = wire::decode<wire::PortSamplesControl>(data).value_or(wire::PortSamplesControl{});
  if (selected(state, at, asked.port).empty()) return wire::kStatusBadField;
  wire::encode(wire::PortSamplesControl{.port = asked.port}, data);
  return wire::kStatusOk;
}

std::uint16_t status_of(State& state, PortIndex at, const wire::MadHeader& header,
                        std::span<std::uint8_t> data) {
  if (header.base_version != 1 || header.class_version != 1) return wire::kStatusBadVersion;
  const bool set = header.method == Method::set;
  if (!set && header.method != Method::get) return wire::kStatusBadMethod;
  switch (header.attribute) {
    case wire::ClassPortInfo::kAttribute:
      return set ? wire::kStatusBadMethodAttribute : class_port_info(data);
    case wire::PortCounters::kAttribute:
      return counters<wire::PortCounters>(state, at, set, data);
    case wire::PortCountersExtended::kAttribute:
      return counters<wire::PortCountersExtended>(state, at, set, data);
    case wire::PortReceiveErrorDetails::kAttribute:
      return counters<wire::PortReceiveErrorDetails>(state, at, set, data);
    case wire::PortTransmitDiscardDetails::kAttribute:
      return counters<wire::PortTransmitDiscardDetails>(state, at, set, data);
    case wire::PortSamplesControl::kAttribute:
      return set ? wire::kStatusBadMethodAttribute : samples_control(state, at, data);
    default:
      return wire::kStatusBadMethodAttribute;
  }
}

}  // namespace

bool serve_performance(State& state, PortIndex at, const wire::MadHeader& header,
                       std::span<std::uint8_t> bytes) {
  const bool ours = header.mgmt_class == wire::MgmtClass::perf && !wire::is_response(header.method);
  if (!ours || bytes.size() < wire::kMadBytes) return false;
  auto answer = header;
  answer.status =
      status_of(state, at, header, bytes.subspan(wire::kPerformanceData, wire::kPerformanceBytes));
  answer.method = Method::get_resp;
  wire::encode_over(answer, bytes);
  return true;
}

}  // namespace smd::sim
