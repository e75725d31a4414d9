// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/packets/data.h"

#include <limits>

#include "mad/sim/agents/traps.h"
#include "mad/sim/packets/passing.h"
#include "mad/sim/state/tables.h"
#include "mad/wire/trap.h"

namespace smd::sim {
namespace {

constexpr std::uint32_t kQueuePair = 0x48;  // some number of a user's

void count_up(std::uint16_t& violations) {
  if (violations != std::numeric_limits<std::uint16_t>::max()) ++violations;
}

Gid gid_of(const State& state, PortIndex port) {
  return Gid::of(state.ports[port].info.gid_prefix, state.ports[port].guid);
}

/// By the port that has the LID, where one has.
Gid gid_of(const State& state, Lid lid) {
  for (PortIndex port = 0; port < state.ports.size(); ++port) {
    if (state.ports[port].info.lid == lid) return gid_of(state, port);
  }
  return {};
}

/// As qib's agent fills it (qib_bad_pqkey of Linux): first the sender, then the receiver.
wire::BadKeyDetails details_of(const State& state, PortIndex from, PortIndex at, const DataPacket& packet) {
  wire::BadKeyDetails details;
  details.lid1 = state.ports[from].info.lid;
  details.lid2 = packet.dlid;
  details.sl = packet.sl;
  details.qp1 = kQueuePair;
  details.qp2 = kQueuePair;
  details.gid1 = gid_of(state, from);
  details.gid2 = gid_of(state, at);
  return details;
}

void refused_by_switch(State& state, PortIndex from, PortIndex at, const DataPacket& packet, bool leaving) {
  auto& counters = counters_of(state, at);
  counters.add(leaving ? Counter::transmit_constraint_errors : Counter::receive_constraint_errors, 1);
  wire::BadPKeyAtSwitchDetails details;
  details.data_valid = 0xFF;  // one bit for each of the eight fields that follow, and all are filled
  details.lid1 = state.ports[from].info.lid;
  details.lid2 = packet.dlid;
  details.pkey = packet.pkey;
  details.sl = packet.sl;
  details.qp1 = kQueuePair;
  details.qp2 = kQueuePair;
  details.gid1 = gid_of(state, from);
  details.gid2 = gid_of(state, packet.dlid);
  details.switch_lid = state.ports[end_port_of(state, at)].info.lid;
  details.port = state.ports[at].number;
  raise_bad_p_key_at_switch(state, end_port_of(state, at), details);
}

void refused_by_end(State& state, PortIndex from, PortIndex at, const DataPacket& packet, bool pkey) {
  auto& info = state.ports[at].info;
  count_up(pkey ? info.p_key_violations : info.q_key_violations);
  auto details = details_of(state, from, at, packet);
  details.key = pkey ? packet.pkey.value() : packet.qkey;
  raise_bad_key(state, at, pkey ? wire::trap::kBadPKey : wire::trap::kBadQKey, details);
}

/// Where a packet has come in, the port is Active, if it was in Armed only.
void arrived(State& state, const Walk& way) {
  for (std::size_t i = 1; i < way.hops.size(); ++i) {
    auto& info = state.port(state.nodes[way.hops[i].node], way.hops[i].in.value()).info;
    if (info.port_state == PortState::armed) info.port_state = PortState::active;
  }
}

/// The table of a switch sends the packet out by the port that it has come in by.
bool turns_back(const Walk& way) {
  return way.fate == Fate::loop && !way.hops.empty() && way.hops.back().in == way.hops.back().out;
}

}  // namespace

Walk send_data(State& state, PortIndex from, const DataPacket& packet) {
  auto way = walk(state, from, packet.dlid, packet.sl, packet.pkey);
  arrived(state, way);
  const bool from_itself = way.end == from && way.fate == Fate::no_p_key;
  if (way.fate == Fate::no_p_key && !from_itself) {
    // At a switch's external port it is the switch that refuses, coming in or going out.
    const auto& node = state.node_of(way.end);
    const bool at_switch = node.is_switch() && state.ports[way.end].number != PortNum{0};
    const bool leaving = at_switch && way.hops.back().out == state.ports[way.end].number &&
                         way.hops.back().node == state.ports[way.end].node;
    if (at_switch) refused_by_switch(state, from, way.end, packet, leaving);
    if (!at_switch) refused_by_end(state, from, end_port_of(state, way.end), packet, true);
  }
  if (way.fate == Fate::unequal_vls) {
    const auto peer = state.ports[way.end].peer;
    raise_port_error(state, way.end, wire::trap::kFlowControlWatchdog);
    if (peer != kNowhere) raise_port_error(state, peer, wire::trap::kFlowControlWatchdog);
  }
  if (way.fate == Fate::no_vl && state.node_of(way.end).is_switch()) {
    const auto in = state.index(state.node_of(way.end), way.hops.back().in.value());
    count_relay_error(state, in, Counter::vl_mapping_errors);
  }
  if (way.delivered() && packet.qkey != kQKey) {
    refused_by_end(state, from, end_port_of(state, way.end), packet, false);
    way.fate = Fate::no_q_key;
  }
  return way;
}

void count_data(State& state, const Walk& way, Sl sl) {
  for (std::size_t i = 0; i + 1 < way.hops.size(); ++i) {
    const auto& hop = way.hops[i];
    const auto out = state.index(state.nodes[hop.node], hop.out.value());
    count_sent(state, out, {.sl = sl});
    count_received(state, state.ports[out].peer, {.sl = sl}, hop.vl.value_or(Vl{}));
  }
  if (way.fate == Fate::no_link || way.fate == Fate::not_active)
    counters_of(state, way.end).add(Counter::transmit_discards, 1);
  if (way.fate == Fate::no_route) count_relay_error(state, way.end, Counter::dlid_mapping_errors);
  if (turns_back(way)) count_relay_error(state, way.end, Counter::looping_errors);
}

bool is_refused(State& state, PortIndex from, const DataPacket& packet) {
  const auto fate = send_data(state, from, packet).fate;
  return fate == Fate::no_p_key || fate == Fate::no_q_key || fate == Fate::no_vl;
}

}  // namespace smd::sim
