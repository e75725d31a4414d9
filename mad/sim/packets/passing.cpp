// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/packets/passing.h"

namespace smd::sim {
namespace {

/// A GMP has 256 bytes and 32 of headers and check sum; PortXmitData counts words of 4 bytes.
constexpr std::uint64_t kWords = 72;

/// The counters of what goes one way through a port.
struct Way {
  Counter packets, unicast, multicast, data, by_sl;
};
constexpr Way kSent{Counter::transmit_packets, Counter::unicast_transmitted, Counter::multicast_transmitted,
                    Counter::transmit_data, Counter::transmit_data_sl0};
constexpr Way kReceived{Counter::receive_packets, Counter::unicast_received, Counter::multicast_received,
                        Counter::receive_data, Counter::receive_data_sl0};

void count_passing(PortCounters& counters, const Load& load, const Way& way) {
  counters.add(way.packets, load.packets);
  counters.add(load.multicast ? way.multicast : way.unicast, load.packets);
  counters.add(way.data, load.packets * kWords);
  counters.add(way.by_sl + (load.sl.value() & 15U), load.packets * kWords);
}

}  // namespace

void count_sent(State& state, PortIndex out, const Load& load) {
  count_passing(counters_of(state, out), load, kSent);
}

void count_received(State& state, PortIndex in, const Load& load, Vl vl) {
  auto& counters = counters_of(state, in);
  count_passing(counters, load, kReceived);
  counters.add(Counter::op_receive_packets, load.packets);
  counters.add(Counter::op_receive_data, load.packets * kWords);
  counters.add(Counter::vl_op_packets0 + (vl.value() & 15U), load.packets);
  counters.add(Counter::vl_op_data0 + (vl.value() & 15U), load.packets * kWords);
}

void count_spoilt(State& state, PortIndex in) {
  auto& counters = counters_of(state, in);
  counters.add(Counter::symbol_errors, 1);
  counters.add(Counter::receive_errors, 1);
  if (state.ports[in].speed >= LinkSpeed::fdr) counters.add(Counter::error_detection_lane0, 1);
}

void count_relay_error(State& state, PortIndex in, Counter why) {
  if (state.ports[in].number == PortNum{0}) return;
  auto& counters = counters_of(state, in);
  counters.add(Counter::switch_relay_errors, 1);
  counters.add(why, 1);
}

}  // namespace smd::sim
