// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/packets/traffic.h"

#include <algorithm>

#include "mad/sim/agents/dispatch.h"
#include "mad/sim/agents/pma.h"
#include "mad/sim/agents/sma.h"
#include "mad/sim/packets/data.h"
#include "mad/sim/packets/forward.h"
#include "mad/sim/packets/segments.h"
#include "mad/sim/state/tables.h"
#include "mad/wire/mad.h"

namespace smd::sim {
namespace {

using wire::Method;

unsigned lmc_mask(unsigned lmc) { return (1U << lmc) - 1U; }

/// Of the port's GID table; by an index that it has not, the first.
GidBytes gid_bytes(const State& state, PortIndex port, std::size_t index) {
  const auto& own = state.ports[port];
  const bool other = index != 0 && own.tables && index < own.tables->guids.size();
  return Gid::of(own.info.gid_prefix, other ? Guid{own.tables->guids[index]} : own.guid).bytes;
}

/// A global route to an end port names one of its GIDs, with its prefix or the default one, or a group.
bool is_ours(const State& state, PortIndex port, const GidBytes& dgid) {
  Gid gid;
  gid.bytes = dgid;
  const auto& own = state.ports[port];
  if (dgid[0] == 0xFF) return true;
  if (gid.prefix() != own.info.gid_prefix && gid.prefix() != kDefaultSubnetPrefix) return false;
  if (gid.guid() == own.guid) return true;
  return own.tables && std::ranges::find(own.tables->guids, gid.guid().value()) != own.tables->guids.end();
}

void deliver(State& state, Client& client, Packet&& packet) {
  mad::LidRoute from = packet.to;
  from.lid = packet.directed ? kPermissiveLid : packet.slid;
  const auto& info = state.ports[client.port].info;
  const auto bits =
      packet.directed || packet.to.lid.multicast() ? 0U : packet.to.lid.value() & lmc_mask(info.lmc);
  from.path_bits = static_cast<std::uint8_t>(bits);
  if (from.grh) from.grh->dgid = packet.sgid;  // to there goes who answers
  if (client.inbox.empty()) state.ready.push_back(client.id);
  ++client.received;
  client.inbox.push_back({.bytes = std::move(packet.bytes), .from = std::move(from), .error = 0});
}

/// To the client whose number the answer's TID has.
void deliver_answer(State& state, PortIndex port, Tid tid, Packet&& packet) {
  auto* client = find_client(state, static_cast<ClientId>(tid.value() >> 32U));
  if (client == nullptr || client->port != port) {
    ++state.drops.no_client;
    return;
  }
  deliver(state, *client, std::move(packet));
}

/// Whether the transaction is one of a program on this port; else it is the node's own.
bool is_of_client(State& state, PortIndex port, Tid tid) {
  const auto* client = find_client(state, static_cast<ClientId>(tid.value() >> 32U));
  return client != nullptr && client->port == port;
}

/// To the agent that has registered for it, else to the SM of the port, else to every client of the interface
/// there that is no agent. False: there is no receiver.
bool deliver_unasked(State& state, PortIndex port, Interface interface, Packet& packet) {
  for (auto& client : state.clients) {
    if (client.port != port || client.interface != interface || !client.agent) continue;
    if (!is_for(*client.agent, packet.bytes)) continue;
    deliver(state, client, std::move(packet));
    return true;
  }
  if (interface == Interface::smi) {
    if (const auto sm = state.sm.find(port); sm != state.sm.end()) {
      if (auto* client = find_client(state, sm->second); client != nullptr && !client->agent) {
        deliver(state, *client, std::move(packet));
        return true;
      }
    }
  }
  bool any = false;
  for (auto& client : state.clients) {
    if (client.port != port || client.interface != interface || client.agent) continue;
    deliver(state, client, Packet(packet));
    any = true;
  }
  return any;
}

/// An answer goes back the way that the request came.
void emit_answer(State& state, PortIndex at, Packet&& packet) {
  if (!packet.directed) {
    const auto& node = state.node_of(at);
    const auto end_port = node.is_switch() ? node.first_port : at;
    const auto asked = packet.to.lid;  // any of the port's LIDs
    packet.to.lid = packet.slid;
    packet.slid = has_lid(state.ports[end_port], asked) ? asked : state.ports[end_port].info.lid;
    if (packet.to.grh) packet.to.grh->dgid = packet.sgid;
    packet.sgid = gid_bytes(state, end_port, 0);
  }
  emit(state, at, std::move(packet));
}

void answer_by_agent(State& state, PortIndex at, Packet&& packet) {
  auto smp = wire::Smp::from_bytes(packet.bytes);
  if (!smp || state.node_of(at).gone || !serve(state, at, *smp)) return;
  std::ranges::copy(smp->bytes(), packet.bytes.begin());
  emit_answer(state, at, std::move(packet));
}

void answer_by_performance_agent(State& state, PortIndex at, Packet&& packet) {
  const auto header = wire::decode<wire::MadHeader>(packet.bytes);
  if (!header || state.node_of(at).gone || !serve_performance(state, at, *header, packet.bytes)) return;
  emit_answer(state, at, std::move(packet));
}

using Answer = void (*)(State&, PortIndex, Packet&&);

void to_agent(State& state, PortIndex at, Packet&& packet, Answer answer) {
  auto& node = state.node_of(at);
  if (node.faults && node.faults->silent) {
    ++state.drops.silent;
    return;
  }
  const auto start = std::max(state.now, node.busy_until);
  node.busy_until = start + state.options.latency.service;
  auto due = node.busy_until;
  if (node.faults) due += node.faults->late;
  if (due <= state.now) return answer(state, at, std::move(packet));
  state.schedule.at(due, [&state, at, answer, packet = std::move(packet)]() mutable {
    answer(state, at, std::move(packet));
  });
}

/// What Linux does with a request that no agent has registered for (ib_mad.c, generate_unmatched_resp).
void answer_unmatched(State& state, PortIndex at, Packet&& packet) {
  auto header = wire::decode<wire::MadHeader>(packet.bytes);
  if (!header || (header->method != Method::get && header->method != Method::set)) {
    ++state.drops.no_client;
    return;
  }
  header->method = Method::get_resp;
  header->status =
      static_cast<std::uint16_t>(wire::kStatusBadMethodAttribute | (packet.directed ? 0x8000U : 0U));
  wire::encode_over(*header, packet.bytes);
  emit_answer(state, at, std::move(packet));
}

/// A program at the port answers for an SM: the one that holds issm, or an agent (the kernel does not ask for
/// issm).
bool takes_sm_info(const State& state, PortIndex port) {
  const auto agent = [&](const Client& c) {
    return c.port == port && c.interface == Interface::smi && c.agent;
  };
  return state.sm.contains(port) || std::ranges::any_of(state.clients, agent);
}

void arrive_smp(State& state, PortIndex at, const wire::MadHeader& header, Packet&& packet) {
  const auto& node = state.node_of(at);
  const auto end_port = node.is_switch() ? node.first_port : at;
  if (wire::is_response(header.method)) return deliver_answer(state, end_port, header.tid, std::move(packet));
  if (header.method == Method::trap_repress && is_of_client(state, end_port, header.tid))
    return deliver_answer(state, end_port, header.tid, std::move(packet));
  const bool asks = header.method == Method::get || header.method == Method::set;
  if (asks) state.counts.count(header.attribute, header.method == Method::set);
  if (asks && header.attribute == wire::SmInfo::kAttribute) {
    if (!takes_sm_info(state, end_port) || !deliver_unasked(state, end_port, Interface::smi, packet)) {
      answer_unmatched(state, at, std::move(packet));
    }
    return;
  }
  if (header.method == Method::trap || header.method == Method::report) {
    if (!deliver_unasked(state, end_port, Interface::smi, packet)) ++state.drops.no_client;
    return;
  }
  to_agent(state, at, std::move(packet), answer_by_agent);
}

void arrive(State& state, PortIndex at, Packet&& packet) {
  const auto& node = state.node_of(at);
  if (node.gone) {
    ++state.drops.no_link;
    return;
  }
  if (node.faults && state.random.happens(node.faults->loss)) {
    ++state.drops.lost;
    return;
  }
  const auto header = wire::decode<wire::MadHeader>(packet.bytes);
  if (!header) {
    ++state.drops.malformed;
    return;
  }
  if (packet.is_smp) return arrive_smp(state, at, *header, std::move(packet));
  const auto end_port = node.is_switch() ? node.first_port : at;
  if (packet.to.qp > 1 || (packet.to.grh && !is_ours(state, end_port, packet.to.grh->dgid))) {
    ++state.drops.no_client;  // no queue pair of these fabrics has it
    return;
  }
  packet.to.pkey_index = p_key_index(state, end_port, packet.pkey);
  if (wire::is_response(header->method)) {
    return deliver_answer(state, end_port, header->tid, std::move(packet));
  }
  // A device answers these itself, whatever agents it has.
  if (header->mgmt_class == wire::MgmtClass::perf)
    return to_agent(state, at, std::move(packet), answer_by_performance_agent);
  if (!deliver_unasked(state, end_port, Interface::gsi, packet))
    answer_unmatched(state, at, std::move(packet));
}

void arrive_after(State& state, const Arrival& arrival, Packet&& packet) {
  if (arrival.time == Duration{0}) return arrive(state, arrival.port, std::move(packet));
  state.schedule.at(state.now + arrival.time,
                    [&state, at = arrival.port, packet = std::move(packet)]() mutable {
                      arrive(state, at, std::move(packet));
                    });
}

void emit_directed(State& state, PortIndex from, Packet&& packet) {
  auto smp = wire::Smp::from_bytes(packet.bytes);
  if (!smp) {
    ++state.drops.malformed;
    return;
  }
  // The part by LIDs comes first on the way there and last on the way back (IBA 14.2.2: DrSLID says that
  // there is one).
  const bool by_lid = smp->dr_slid() != kPermissiveLid, back = smp->returning();
  Arrival start{.port = from};
  if (by_lid && !back) {
    const auto there = forward_by_lid(state, end_port_of(state, from), packet.to.lid, {.smp = true});
    if (!there) return;
    start = *there;
  }
  auto arrival = forward_directed(state, start.port, *smp);
  if (!arrival) return;
  if (by_lid && back) {
    start = *arrival;
    arrival = forward_by_lid(state, end_port_of(state, start.port), smp->dr_slid(), {.smp = true});
    if (!arrival) return;
  }
  arrival->time += start.time;
  std::ranges::copy(smp->bytes(), packet.bytes.begin());
  arrive_after(state, *arrival, std::move(packet));
}

Load load_of(const Packet& packet) {
  return {.smp = packet.is_smp,
          .multicast = packet.to.lid.multicast(),
          .sl = packet.to.sl,
          .packets = static_cast<std::uint32_t>(segments_of(packet.bytes))};
}

void emit_multicast(State& state, PortIndex from, const Packet& packet) {
  const auto pkey = packet.is_smp ? std::nullopt : std::optional(packet.pkey);
  for (const auto& arrival : forward_multicast(state, from, packet.to.lid, pkey, load_of(packet))) {
    if (packet.is_smp || has_p_key(state, arrival.port, packet.pkey))
      arrive_after(state, arrival, Packet(packet));
  }
}

/// A Q_Key with the highest bit stands for that of the sending queue pair, which is QP1.
DataPacket data_of(const Packet& packet) {
  constexpr std::uint32_t kOwn = 0x8000'0000;
  const auto& to = packet.to;
  return {.dlid = to.lid, .sl = to.sl, .pkey = packet.pkey, .qkey = (to.qkey & kOwn) != 0 ? kQKey : to.qkey};
}

}  // namespace

Client* find_client(State& state, ClientId id) {
  const auto at = std::ranges::lower_bound(state.clients, id, {}, &Client::id);
  return at != state.clients.end() && at->id == id ? &*at : nullptr;
}

const Client* find_client(const State& state, ClientId id) {
  const auto at = std::ranges::lower_bound(state.clients, id, {}, &Client::id);
  return at != state.clients.end() && at->id == id ? &*at : nullptr;
}

void emit(State& state, PortIndex from, Packet packet) {
  if (state.on_packet) {
    state.on_packet({.mad = packet.bytes,
                     .slid = packet.directed ? kPermissiveLid : packet.slid,
                     .dlid = packet.directed ? kPermissiveLid : packet.to.lid,
                     .sl = packet.to.sl,
                     .pkey = p_key(state, from, packet.to.pkey_index),
                     .qp = packet.is_smp ? 0U : packet.to.qp,
                     .smp = packet.is_smp,
                     .grh = packet.to.grh,
                     .sgid = packet.sgid});
  }
  if (state.random.happens(state.loss)) {
    ++state.drops.lost;
    return;
  }
  if (packet.directed) return emit_directed(state, from, std::move(packet));
  const auto& node = state.node_of(from);
  const auto start = node.is_switch() ? node.first_port : from;
  if (!packet.is_smp) packet.pkey = p_key(state, start, packet.to.pkey_index);
  if (packet.to.lid.multicast()) return emit_multicast(state, from, packet);
  if (!packet.is_smp && is_refused(state, start, data_of(packet))) {
    ++state.drops.refused;
    return;
  }
  const auto arrival = forward_by_lid(state, start, packet.to.lid, load_of(packet));
  if (arrival) arrive_after(state, *arrival, std::move(packet));
}

void send_from_client(State& state, const Client& client, Outgoing mad) {
  auto header = wire::decode<wire::MadHeader>(mad.bytes);
  const auto* route = std::get_if<mad::LidRoute>(&mad.route);
  if (!header) {
    ++state.drops.malformed;
    return;
  }
  const bool request = !wire::is_response(header->method) && header->method != Method::trap_repress;
  if (request) {
    header->tid = Tid{(std::uint64_t{client.id} << 32U) | (header->tid.value() & 0xFFFF'FFFFU)};
    wire::encode_over(*header, mad.bytes);
  }
  Packet packet{.bytes = std::move(mad.bytes), .is_smp = client.interface == Interface::smi};
  packet.directed = packet.is_smp && header->mgmt_class == wire::MgmtClass::sm_directed;
  if (route != nullptr) packet.to = *route;
  const auto& info = state.ports[client.port].info;
  const auto bits = packet.to.path_bits & lmc_mask(info.lmc);
  packet.slid = Lid{static_cast<std::uint16_t>(info.lid.value() | bits)};
  if (packet.to.grh) packet.sgid = gid_bytes(state, client.port, packet.to.grh->sgid_index);
  emit(state, client.port, std::move(packet));
}

}  // namespace smd::sim
