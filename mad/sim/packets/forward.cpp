// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/packets/forward.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "mad/sim/agents/traps.h"
#include "mad/sim/packets/passing.h"
#include "mad/sim/state/tables.h"
#include "mad/wire/trap.h"

namespace smd::sim {
namespace {

/// Over the cable behind `out`, having come in by `in` of the same node. Nothing: lost on the way.
std::optional<PortIndex> cross(State& state, PortIndex out, PortIndex in, const Load& load, Duration& time) {
  const auto& port = state.ports[out];
  if (!port.link_up() || port.peer == kNowhere) {
    if (!load.smp) counters_of(state, out).add(Counter::transmit_discards, 1);
    ++state.drops.no_link;
    return std::nullopt;
  }
  auto& peer = state.ports[port.peer];
  if (!load.smp && takes_data(state, port.peer) && port.info.port_state == PortState::active)
    peer.info.port_state = PortState::active;
  if (!load.smp && (port.info.port_state != PortState::active || peer.info.port_state != PortState::active)) {
    counters_of(state, out).add(Counter::transmit_discards, 1);
    ++state.drops.not_active;
    return std::nullopt;
  }
  if (!load.smp && port.vls != peer.vls) {
    raise_port_error(state, out, wire::trap::kFlowControlWatchdog);
    raise_port_error(state, port.peer, wire::trap::kFlowControlWatchdog);
    ++state.drops.unequal_vls;
    return std::nullopt;
  }
  if (!load.smp) count_sent(state, out, load);
  if ((port.loss | peer.loss) != 0 && (state.random.happens(port.loss) || state.random.happens(peer.loss))) {
    ++state.drops.lost;
    count_spoilt(state, port.peer);
    return std::nullopt;
  }
  if (!load.smp) {
    count_received(state, port.peer, load, sl_to_vl(state, out, state.ports[in].number, load.sl));
  }
  time += state.options.latency.hop + Duration{port.extra_latency} + Duration{peer.extra_latency};
  return port.peer;
}

std::optional<Arrival> drop(std::uint64_t& counter) {
  ++counter;
  return std::nullopt;
}

/// One packet and its copies.
class Multicast {
 public:
  Multicast(State& state, Lid mlid, std::optional<PKey> pkey, const Load& load)
      : state_(state), mlid_(mlid), pkey_(pkey), load_(load), seen_(state.nodes.size()) {}

  std::vector<Arrival> from(PortIndex start) {
    if (state_.node_of(start).is_switch()) {
      under_way_.push_back({.port = start});
    } else {
      send(start, start, Duration{0});
    }
    while (!under_way_.empty()) {
      const auto here = under_way_.front();
      under_way_.pop_front();
      if (state_.node_of(here.port).is_switch()) {
        copy(here);
      } else {
        reached_.push_back(here);
      }
    }
    std::ranges::sort(reached_, {}, &Arrival::port);
    return std::move(reached_);
  }

 private:
  /// To each port that the switch's masks name.
  void copy(const Arrival& here) {
    const auto& node = state_.node_of(here.port);
    auto seen = seen_[state_.ports[here.port].node];
    if (seen) return;  // a loop, or a second way
    seen = true;
    for (unsigned number = 0; number <= node.ports; ++number) {
      const bool chosen = ((mft_mask(*node.sw, mlid_, number / 16) >> (number % 16)) & 1U) != 0;
      const auto out = state_.index(node, number);
      if (!chosen || out == here.port) continue;
      if (number == 0) {
        reached_.push_back({.port = out, .time = here.time});
      } else {
        send(out, here.port, here.time);
      }
    }
  }
  void send(PortIndex out, PortIndex from, Duration time) {
    if (!passes(out, state_.ports[out].info.partition_enforce_out, Counter::transmit_constraint_errors))
      return;
    const auto in = cross(state_, out, from, load_, time);
    if (!in) return;
    if (passes(*in, state_.ports[*in].info.partition_enforce_in, Counter::receive_constraint_errors))
      under_way_.push_back({.port = *in, .time = time});
  }
  /// A switch's port that enforces partitions counts what it refuses.
  bool passes(PortIndex port, bool enforced, Counter refused) {
    if (!pkey_ || !enforced || !state_.node_of(port).is_switch() || passes_p_key(state_, port, *pkey_))
      return true;
    counters_of(state_, port).add(refused, 1);
    return false;
  }

  State& state_;
  Lid mlid_;
  std::optional<PKey> pkey_;
  Load load_;
  std::vector<bool> seen_;
  std::deque<Arrival> under_way_;  ///< where copies have come in
  std::vector<Arrival> reached_;
};

}  // namespace

bool takes_data(const State& state, PortIndex port) {
  const auto now = state.ports[port].info.port_state;
  return now == PortState::active || (now == PortState::armed && state.options.firmware.data_activates);
}

PortNum lft_port(const SwitchTables& sw, Lid lid) {
  if (lid.value() > sw.info.linear_fdb_top || lid.value() >= sw.lft.size()) return kNoPort;
  return PortNum{sw.lft[lid.value()]};
}

PortNum out_port(const State& state, const Node& node, Lid lid, Sl sl, bool datagram) {
  const auto* group = node.sw->adaptive ? adaptive_group(*node.sw->adaptive, lid, sl, datagram) : nullptr;
  if (group == nullptr) return lft_port(*node.sw, lid);
  const auto active = [&](PortNum number) {
    const auto& port = state.port(node, number.value());
    return port.link_up() && port.info.port_state == PortState::active;
  };
  const auto found = std::ranges::find_if(*group, active);
  return found != group->end() ? *found : group->front();
}

std::uint16_t mft_mask(const SwitchTables& sw, Lid mlid, unsigned position) {
  if (!mlid.multicast()) return 0;
  const bool all = sw.info.multicast_fdb_top == 0 && !sw.zero_top_is_none;
  if (!all && mlid.value() > sw.info.multicast_fdb_top) return 0;
  const std::size_t at = std::size_t{mlid.value()} - kFirstMulticastLid.value();
  const auto index = at * sw.mft_positions + position;
  return index < sw.mft.size() ? sw.mft[index] : std::uint16_t{0};
}

bool has_lid(const Port& port, Lid lid) {
  const unsigned mask = ~((1U << port.info.lmc) - 1U);
  return port.info.lid != Lid{} && (lid.value() & mask) == (port.info.lid.value() & mask);
}

std::optional<Arrival> forward_by_lid(State& state, PortIndex from, Lid dlid, const Load& load) {
  Arrival arrival{.port = from};
  const auto& start = state.ports[from];
  const bool from_switch = state.nodes[start.node].is_switch();
  if (has_lid(start, dlid)) return arrival;  // loops back inside the adapter
  auto at = from;
  if (!from_switch) {
    const auto next = cross(state, from, from, load, arrival.time);
    if (!next) return std::nullopt;
    at = *next;
  }
  for (unsigned hops = 0; hops < kMaxHops; ++hops) {
    arrival.port = at;
    if (dlid == kPermissiveLid && at != from) return arrival;
    const auto& node = state.node_of(at);
    if (!node.is_switch()) {
      return has_lid(state.ports[at], dlid) ? std::optional(arrival) : drop(state.drops.wrong_lid);
    }
    const auto port = load.smp ? lft_port(*node.sw, dlid) : out_port(state, node, dlid, load.sl, true);
    const auto out = port.value();
    if (out == 0) {
      arrival.port = state.index(node, 0);
      return has_lid(state.ports[arrival.port], dlid) ? std::optional(arrival) : drop(state.drops.wrong_lid);
    }
    if (out > node.ports) {
      if (!load.smp) count_relay_error(state, at, Counter::dlid_mapping_errors);
      return drop(state.drops.no_route);
    }
    if (state.index(node, out) == at) {  // a switch does not send it back to where it came from
      if (!load.smp) count_relay_error(state, at, Counter::looping_errors);
      return drop(state.drops.looped);
    }
    const auto next = cross(state, state.index(node, out), at, load, arrival.time);
    if (!next) return std::nullopt;
    at = *next;
  }
  return drop(state.drops.looped);
}

// The rules of a hop are those of smi.c of Linux (IBA 14.2.2, which it cites); a switch that forwards is what
// follows from them for a device that does both, receiving and sending.
std::optional<Arrival> forward_directed(State& state, PortIndex from, wire::Smp& smp) {
  const unsigned count = smp.hop_count();
  if (count > mad::DirectedPath::kMaxHops) return drop(state.drops.bad_path);
  const bool back = smp.returning();
  unsigned pointer = smp.hop_pointer();
  if (pointer != (back ? count + 1 : 0)) return drop(state.drops.bad_path);
  Arrival arrival{.port = from};
  auto at = from;
  for (unsigned hop = 0; hop < count; ++hop) {
    pointer = back ? count - hop : hop + 1;
    const unsigned out = (back ? smp.return_path(pointer) : smp.initial_path(pointer)).value();
    const auto& node = state.node_of(at);
    // A CA does not forward, and sends its own SMPs by the port that they were given to.
    const bool allowed = node.is_switch() ? out >= 1 && out <= node.ports
                                          : hop == 0 && out == state.ports[from].number.value();
    if (!allowed) return drop(state.drops.bad_path);
    const auto next = cross(state, state.index(node, out), at, {.smp = true}, arrival.time);
    if (!next) return std::nullopt;
    at = *next;
    if (!back) smp.set_return_path(pointer, state.ports[at].number);
  }
  smp.set_hop_pointer(static_cast<std::uint8_t>(back ? 0 : count + 1));
  arrival.port = at;
  return arrival;
}

std::vector<Arrival> forward_multicast(State& state, PortIndex from, Lid mlid, std::optional<PKey> pkey,
                                       const Load& load) {
  return Multicast(state, mlid, pkey, load).from(from);
}

}  // namespace smd::sim
