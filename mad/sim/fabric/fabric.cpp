// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/fabric/fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "mad/sim/agents/dispatch.h"
#include "mad/sim/agents/links.h"
#include "mad/sim/agents/traps.h"
#include "mad/sim/packets/traffic.h"
#include "mad/sim/state/reset.h"
#include "mad/wire/capability.h"

namespace smd::sim {
namespace {

template <class T>
std::size_t memory_of(const std::vector<T>& vector) {
  return vector.capacity() * sizeof(T);
}

std::size_t memory_of(const std::string& text) {
  return text.capacity() > 15 ? text.capacity() + 1 : 0;  // shorter ones are in the object itself
}

std::size_t memory_of(const PortTables& tables) {
  const auto extended = tables.extended ? sizeof(*tables.extended) : 0;
  const auto counters = tables.counters ? sizeof(*tables.counters) : 0;
  return sizeof(tables) + counters + memory_of(tables.pkeys) + memory_of(tables.guids) +
         memory_of(tables.vl_arb) + extended;
}

}  // namespace

Fabric::Fabric(const base::Fabric& description, const Options& options)
    : state_(std::make_unique<State>(power_on(description, options))) {
  state_->send = &emit;
  for (PortIndex port = 0; port < state_->ports.size(); ++port) link_now(*state_, port);
}

Fabric::~Fabric() = default;

ClientId Fabric::attach(PortIndex port, Interface interface) {
  state_->clients.push_back({.id = state_->next_client++, .port = port, .interface = interface});
  return state_->clients.back().id;
}

std::expected<ClientId, int> Fabric::attach(PortIndex port, const Registration& registration) {
  const auto& faults = state_->node_of(port).faults;
  if (faults && faults->no_smi && registration.interface == Interface::smi && registration.mgmt_class != 0)
    return std::unexpected(EPROTONOSUPPORT);
  const auto taken = [&](const Client& other) {
    return other.port == port && other.agent && conflicts(*other.agent, registration);
  };
  if (std::ranges::any_of(state_->clients, taken)) return std::unexpected(EINVAL);
  const auto client = attach(port, registration.interface);
  state_->clients.back().agent = registration;
  return client;
}

void Fabric::detach(ClientId client) {
  release_sm(client);
  std::erase_if(state_->clients, [&](const Client& c) { return c.id == client; });
  std::erase(state_->ready, client);
}

void Fabric::send(ClientId client, Outgoing mad, TimePoint now) {
  advance(now);
  auto* from = find_client(*state_, client);
  if (from == nullptr) return;
  ++from->sent;
  send_from_client(*state_, *from, std::move(mad));
}

std::vector<ClientId> Fabric::ready() { return std::exchange(state_->ready, {}); }

std::vector<mad::Received> Fabric::take(ClientId client) {
  auto* from = find_client(*state_, client);
  return from == nullptr ? std::vector<mad::Received>{} : std::exchange(from->inbox, {});
}

bool Fabric::claim_sm(ClientId client) {
  const auto* from = find_client(*state_, client);
  if (from == nullptr || !state_->sm.emplace(from->port, client).second) return false;
  state_->ports[from->port].info.capability_mask |= wire::kCapIsSm;
  raise_capability_mask(*state_, from->port);
  return true;
}

void Fabric::release_sm(ClientId client) {
  const auto* from = find_client(*state_, client);
  if (from == nullptr) return;
  const auto held = state_->sm.find(from->port);
  if (held == state_->sm.end() || held->second != client) return;
  state_->sm.erase(held);
  state_->ports[from->port].info.capability_mask &= ~wire::kCapIsSm;
  raise_capability_mask(*state_, from->port);
}

mad::LocalPort Fabric::local(ClientId client) const {
  const auto* from = find_client(*state_, client);
  if (from == nullptr) return {};
  const auto& port = state_->ports[from->port];
  const auto& node = state_->nodes[port.node];
  return {.device = node.name,
          .port = port.number,
          .guid = port.guid,
          .lid = port.info.lid,
          .sm_lid = port.info.sm_lid,
          .sm_sl = port.info.master_sm_sl,
          .link_up = port.link_up()};
}

std::optional<TimePoint> Fabric::next() const { return state_->schedule.next(); }

void Fabric::advance(TimePoint now) {
  while (true) {
    const auto due = state_->schedule.next();
    if (!due || *due > now) break;
    state_->now = std::max(state_->now, *due);
    state_->schedule.pop()();
  }
  state_->now = std::max(state_->now, now);
}

void Fabric::at(TimePoint due, std::move_only_function<void()> event) {
  state_->schedule.at(due, std::move(event));
}

Faults Fabric::faults() { return Faults(*state_); }
SmpCounts& Fabric::counts() { return state_->counts; }
std::optional<PortIndex> Fabric::find(const Place& place) const { return find_port(*state_, place); }

std::optional<PortIndex> Fabric::default_port() const {
  std::optional<PortIndex> of_switch, unlinked;
  for (const auto& node : state_->nodes) {
    if (node.is_switch()) {
      if (!of_switch) of_switch = node.first_port;
      continue;
    }
    if (!unlinked && node.ports > 0) unlinked = state_->index(node, 1);
    for (unsigned number = 1; number <= node.ports; ++number) {
      if (node.type == NodeType::ca && state_->port(node, number).peer != kNowhere) {
        return state_->index(node, number);
      }
    }
  }
  return of_switch ? of_switch : unlinked;
}

Reach Fabric::reach() const { return sim::reach(*state_); }

Walk Fabric::walk(const Place& from, Lid dlid, Sl sl, std::optional<PKey> pkey) const {
  const auto port = find(from);
  return port ? sim::walk(*state_, *port, dlid, sl, pkey) : Walk{};
}

Spread Fabric::spread(const Place& from, Lid mlid) const {
  const auto port = find(from);
  return port ? sim::spread(*state_, *port, mlid) : Spread{};
}

Walk Fabric::send_data(const Place& from, const DataPacket& packet) {
  const auto port = find(from);
  if (!port) return {};
  auto way = sim::send_data(*state_, *port, packet);
  count_data(*state_, way, packet.sl);
  return way;
}

void Fabric::watch_sets(std::move_only_function<void(const DoneSet&)> watcher) {
  state_->on_set = std::move(watcher);
}

void Fabric::watch_packets(std::move_only_function<void(const SentPacket&)> watcher) {
  state_->on_packet = std::move(watcher);
}

std::optional<wire::PortInfo> Fabric::port_info(const Place& place) const {
  const auto port = find(place);
  if (!port) return std::nullopt;
  return state_->ports[*port].info;
}

std::vector<std::string> Fabric::not_active() const {
  std::vector<std::string> lines;
  for (PortIndex port = 0; port < state_->ports.size(); ++port) {
    const auto& info = state_->ports[port].info;
    if (info.port_state == PortState::down || info.port_state == PortState::active) continue;
    lines.push_back(fmt::format("{}: {}", port_text(*state_, port), to_string(info.port_state)));
  }
  return lines;
}

std::size_t Fabric::bytes() const {
  std::size_t total =
      sizeof(State) + memory_of(state_->nodes) + memory_of(state_->ports) + memory_of(state_->traps);
  for (const auto& node : state_->nodes) {
    total += memory_of(node.id) + memory_of(node.name);
    if (node.sw)
      total +=
          sizeof(*node.sw) + memory_of(node.sw->lft) + memory_of(node.sw->mft) + memory_of(node.sw->sl_to_vl);
    if (node.sw && node.sw->adaptive) total += sizeof(*node.sw->adaptive);
    if (node.faults) total += sizeof(*node.faults);
  }
  for (const auto& port : state_->ports) {
    if (port.tables) total += memory_of(*port.tables);
  }
  return total;
}

}  // namespace smd::sim
