// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/pma.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "mad/sim/pma_fields.h"
#include "mad/wire/class_port_info.h"

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

/// What has passed by each SL.
template <class A>
std::uint16_t data_by_sl(State& state, PortIndex at, bool set, std::span<std::uint8_t> data,
                         std::array<std::uint32_t, 16> DataBySl::* way) {
  auto value = wire::decode<A>(data).value_or(A{});
  const auto ports = selected(state, at, value.port);
  if (ports.empty()) return wire::kStatusBadField;
  for (std::size_t sl = 0; sl < value.data.size(); ++sl) {
    const auto written = value.data[sl];
    std::uint64_t sum = 0;
    for (const auto port : ports) {
      if (set && ((value.select >> sl) & 1U) != 0) (counters_of(state, port).by_sl.*way)[sl] = written;
      const auto& tables = state.ports[port].tables;
      if (tables && tables->counters) sum += (tables->counters->by_sl.*way)[sl];
    }
    value.data[sl] = static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, 0xFFFF'FFFF));
  }
  wire::encode(value, data);
  return wire::kStatusOk;
}

bool has_extended_speeds(const Node& node) {
  return std::ranges::any_of(
      std::array{LinkSpeed::fdr, LinkSpeed::edr, LinkSpeed::hdr, LinkSpeed::ndr, LinkSpeed::xdr},
      [&](LinkSpeed speed) { return (node.speeds & speed_bit(speed)) != 0; });
}

std::uint16_t class_port_info(std::span<std::uint8_t> data) {
  wire::ClassPortInfo info;
  info.base_version = 1;
  info.class_version = 1;
  info.capability_mask = wire::kPmAllPortSelect | wire::kPmExtendedWidth | wire::kPmXmitWait;
  info.capability_mask2 = wire::kPm2ErrorsExtended;
  info.resp_time = 18;
  wire::encode(info, data);
  return wire::kStatusOk;
}

/// The port samples nothing: no counters to choose from, and no sampling under way. But which attributes it
/// has says OptionMask.
std::uint16_t samples_control(const State& state, PortIndex at, std::span<std::uint8_t> data) {
  const auto asked = wire::decode<wire::PortSamplesControl>(data).value_or(wire::PortSamplesControl{});
  if (selected(state, at, asked.port).empty()) return wire::kStatusBadField;
  auto options = wire::kOptionReceiveErrorDetails | wire::kOptionDiscardDetails | wire::kOptionPacketsByKind |
                 wire::kOptionTransmitDataSl | wire::kOptionReceiveDataSl;
  if (has_extended_speeds(state.node_of(at))) options |= wire::kOptionExtendedSpeeds;
  wire::encode(wire::PortSamplesControl{.port = asked.port, .option_mask = options}, data);
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
    case wire::PortTransmitDataSl::kAttribute:
      return data_by_sl<wire::PortTransmitDataSl>(state, at, set, data, &DataBySl::sent);
    case wire::PortReceiveDataSl::kAttribute:
      return data_by_sl<wire::PortReceiveDataSl>(state, at, set, data, &DataBySl::received);
    case wire::PortExtendedSpeedsCounters::kAttribute:
      if (!has_extended_speeds(state.node_of(at))) return wire::kStatusBadMethodAttribute;
      return counters<wire::PortExtendedSpeedsCounters>(state, at, set, data);
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
