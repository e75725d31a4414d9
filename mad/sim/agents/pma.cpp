// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/agents/pma.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "mad/sim/agents/pma_fields.h"
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

/// Operation code of a datagram of one packet (Linux's IB_OPCODE_UD_SEND_ONLY): all that is sent here.
constexpr std::uint8_t kDatagram = 0x64;

template <class A>
std::uint16_t counters(State& state, PortIndex at, bool set, std::span<std::uint8_t> data) {
  auto value = wire::decode<A>(data).value_or(A{});
  auto ports = selected(state, at, value.port);
  if (ports.empty()) return wire::kStatusBadField;
  Query query(state, std::move(ports));
  bool counted = true;
  if constexpr (kByOpCode<A>) {
    counted = value.op_code == kDatagram;
  } else if constexpr (requires { value.op_code; }) {
    value.op_code = 0;
  }
  const auto chosen = counted ? selection(value) : 0;
  each(value, [&](Counter counter, auto& field, std::uint64_t most, unsigned bit) {
    if (set) query.write(counter, ((chosen >> bit) & 1U) != 0, field);
    query.read(counter, field, counted ? most : 0);
  });
  wire::encode(value, data);
  return wire::kStatusOk;
}

bool has_extended_speeds(const Node& node) {
  return std::ranges::any_of(
      std::array{LinkSpeed::fdr, LinkSpeed::edr, LinkSpeed::hdr, LinkSpeed::ndr, LinkSpeed::xdr},
      [&](LinkSpeed speed) { return (node.speeds & speed_bit(speed)) != 0; });
}

bool is_switch(const Node& node) { return node.is_switch(); }

std::uint16_t class_port_info(State& /*state*/, PortIndex /*at*/, bool set, std::span<std::uint8_t> data) {
  if (set) return wire::kStatusBadMethodAttribute;
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
std::uint16_t samples_control(State& state, PortIndex at, bool set, std::span<std::uint8_t> data) {
  if (set) return wire::kStatusBadMethodAttribute;
  const auto asked = wire::decode<wire::PortSamplesControl>(data).value_or(wire::PortSamplesControl{});
  if (selected(state, at, asked.port).empty()) return wire::kStatusBadField;
  auto options = wire::kOptionReceiveErrorDetails | wire::kOptionDiscardDetails |
                 wire::kOptionOpReceiveCounters | wire::kOptionFlowControl | wire::kOptionVlOpCounters |
                 wire::kOptionFlowUpdateErrors | wire::kOptionVlWaits | wire::kOptionPacketsByKind |
                 wire::kOptionCongestionControl | wire::kOptionDataSl;
  if (has_extended_speeds(state.node_of(at))) options |= wire::kOptionExtendedSpeeds;
  if (is_switch(state.node_of(at))) options |= wire::kOptionSwitchVlCongestion;
  wire::encode(wire::PortSamplesControl{.port = asked.port, .option_mask = options}, data);
  return wire::kStatusOk;
}

using Serve = std::uint16_t (*)(State&, PortIndex, bool set, std::span<std::uint8_t>);
struct Served {
  std::uint16_t attribute;
  Serve serve;
  bool (*has)(const Node&) = nullptr;  ///< null: every node has it
};
template <class A>
constexpr Served served(bool (*has)(const Node&) = nullptr) {
  return {A::kAttribute, counters<A>, has};
}

constexpr std::array kServed{Served{wire::ClassPortInfo::kAttribute, class_port_info},
                             Served{wire::PortSamplesControl::kAttribute, samples_control},
                             served<wire::PortCounters>(),
                             served<wire::PortCountersExtended>(),
                             served<wire::PortReceiveErrorDetails>(),
                             served<wire::PortTransmitDiscardDetails>(),
                             served<wire::PortOpReceiveCounters>(),
                             served<wire::PortFlowControlCounters>(),
                             served<wire::PortVlOpPackets>(),
                             served<wire::PortVlOpData>(),
                             served<wire::PortVlFlowUpdateErrors>(),
                             served<wire::PortVlWaits>(),
                             served<wire::PortExtendedSpeedsCounters>(has_extended_speeds),
                             served<wire::SwitchPortVlCongestion>(is_switch),
                             served<wire::PortReceiveCongestion>(),
                             served<wire::PortSlFecn>(),
                             served<wire::PortSlBecn>(),
                             served<wire::PortTransmitCongestion>(),
                             served<wire::PortVlTimeCongested>(),
                             served<wire::PortTransmitDataSl>(),
                             served<wire::PortReceiveDataSl>()};

std::uint16_t status_of(State& state, PortIndex at, const wire::MadHeader& header,
                        std::span<std::uint8_t> data) {
  if (header.base_version != 1 || header.class_version != 1) return wire::kStatusBadVersion;
  const bool set = header.method == Method::set;
  if (!set && header.method != Method::get) return wire::kStatusBadMethod;
  for (const auto& each : kServed) {
    if (each.attribute != header.attribute) continue;
    if (each.has != nullptr && !each.has(state.node_of(at))) break;
    return each.serve(state, at, set, data);
  }
  return wire::kStatusBadMethodAttribute;
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
