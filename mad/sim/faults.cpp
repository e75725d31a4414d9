// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/faults.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "mad/sim/links.h"
#include "mad/sim/reset.h"
#include "mad/sim/tables.h"
#include "mad/sim/traps.h"

namespace smd::sim {
namespace {

std::uint32_t of_2_32(Chance chance) {
  constexpr double kAll = 4294967295.0;
  return static_cast<std::uint32_t>(std::clamp(chance, 0.0, 1.0) * kAll);
}

NodeFaults& faults_of(Node& node) {
  if (!node.faults) node.faults = std::make_unique<NodeFaults>();
  return *node.faults;
}

void drop_links(State& state, const Node& node) {
  for (unsigned number = 1; number <= node.ports; ++number) {
    if (state.port(node, number).peer != kNowhere) drop_link(state, state.index(node, number));
  }
}

void power_up(State& state, NodeIndex index) {
  auto& node = state.nodes[index];
  node.gone = false;
  for (unsigned number = 1; number <= node.ports; ++number) try_link(state, state.index(node, number));
}

void power_down(State& state, NodeIndex index) {
  auto& node = state.nodes[index];
  node.gone = true;
  drop_links(state, node);
  reset_node(state, index);
}

}  // namespace

NodeFaults* Faults::node_faults(std::string_view node) {
  const auto index = find_node(state_, node);
  return index ? &faults_of(state_.nodes[*index]) : nullptr;
}

bool Faults::link_down(const Place& place) {
  const auto index = find_port(state_, place);
  if (!index || state_.ports[*index].peer == kNowhere) return false;
  state_.ports[*index].cut = true;
  state_.ports[state_.ports[*index].peer].cut = true;
  drop_link(state_, *index);
  return true;
}

bool Faults::link_up(const Place& place) {
  const auto index = find_port(state_, place);
  if (!index || state_.ports[*index].peer == kNowhere) return false;
  state_.ports[*index].cut = false;
  state_.ports[state_.ports[*index].peer].cut = false;
  try_link(state_, *index);
  return true;
}

bool Faults::move(const Place& from, const Place& to) {
  const auto old_end = find_port(state_, from);
  const auto node = find_node(state_, to.node);
  if (!old_end || !node || to.port == PortNum{0} || to.port.value() > state_.nodes[*node].ports) return false;
  const auto new_end = state_.index(state_.nodes[*node], to.port.value());
  auto& old_port = state_.ports[*old_end];
  auto& new_port = state_.ports[new_end];
  const auto far = old_port.peer;
  if (far == kNowhere || new_port.peer != kNowhere || far == *old_end) return false;
  drop_link(state_, far);
  new_port.peer = far;
  new_port.cable_speed = old_port.cable_speed;
  new_port.cable_width = old_port.cable_width;
  new_port.cut = std::exchange(old_port.cut, false);
  old_port.peer = kNowhere;
  state_.ports[far].peer = new_end;
  try_link(state_, new_end);
  return true;
}

bool Faults::split(const std::vector<std::string>& nodes) {
  std::vector<bool> inside(state_.nodes.size());
  for (const auto& name : nodes) {
    const auto index = find_node(state_, name);
    if (!index) return false;
    inside[*index] = true;
  }
  for (PortIndex i = 0; i < state_.ports.size(); ++i) {
    auto& port = state_.ports[i];
    if (port.peer == kNowhere || inside[port.node] == inside[state_.ports[port.peer].node]) continue;
    port.split = true;
    state_.ports[port.peer].split = true;
    if (port.link_up()) drop_link(state_, i);
  }
  return true;
}

void Faults::join() {
  for (auto& port : state_.ports) port.split = false;
  for (PortIndex i = 0; i < state_.ports.size(); ++i) {
    if (!state_.ports[i].link_up()) try_link(state_, i);
  }
}

bool Faults::silent(std::string_view node, bool on) {
  auto* faults = node_faults(node);
  if (faults != nullptr) faults->silent = on;
  return faults != nullptr;
}

bool Faults::slow(std::string_view node, Duration late) {
  auto* faults = node_faults(node);
  if (faults != nullptr) faults->late = late;
  return faults != nullptr;
}

bool Faults::answers_only(std::string_view node, std::vector<std::uint16_t> attributes) {
  auto* faults = node_faults(node);
  if (faults != nullptr) faults->answers_only = std::move(attributes);
  return faults != nullptr;
}

bool Faults::refuses(std::string_view node, std::uint16_t attribute, std::uint16_t status, bool sets_only) {
  auto* faults = node_faults(node);
  if (faults == nullptr) return false;
  std::erase_if(faults->refusals, [&](const Refusal& r) { return r.attribute == attribute; });
  if (status != 0) faults->refusals.push_back({attribute, status, sets_only});
  return true;
}

bool Faults::forgets(std::string_view node, std::uint16_t attribute, std::string field) {
  auto* faults = node_faults(node);
  if (faults != nullptr) faults->forgets.push_back({attribute, std::move(field)});
  return faults != nullptr;
}

bool Faults::refuses_extended_speeds(std::string_view node, bool on) {
  auto* faults = node_faults(node);
  if (faults != nullptr) faults->refuses_extended_speeds = on;
  return faults != nullptr;
}

bool Faults::reboot(std::string_view node, Duration takes) {
  const auto index = find_node(state_, node);
  if (!index) return false;
  power_down(state_, *index);
  if (takes == Duration{0}) {
    power_up(state_, *index);
  } else {
    state_.schedule.at(state_.now + takes, [this_state = &state_, i = *index] { power_up(*this_state, i); });
  }
  return true;
}

bool Faults::remove(std::string_view node) {
  const auto index = find_node(state_, node);
  if (index) power_down(state_, *index);
  return index.has_value();
}

bool Faults::restore(std::string_view node) {
  const auto index = find_node(state_, node);
  if (index) power_up(state_, *index);
  return index.has_value();
}

bool Faults::rename(std::string_view node, std::string name) {
  const auto index = find_node(state_, node);
  if (!index) return false;
  auto& named = state_.nodes[*index];
  named.name = std::move(name);
  const unsigned first = named.is_switch() ? 0 : 1, last = named.is_switch() ? 0 : named.ports;
  for (unsigned number = first; number <= last; ++number) {
    raise_node_description(state_, state_.index(named, number));
  }
  return true;
}

bool Faults::set_guid(std::string_view node, Guid guid) {
  const auto index = find_node(state_, node);
  if (!index) return false;
  auto& named = state_.nodes[*index];
  named.guid = guid;
  for (unsigned number = 0; number <= named.ports; ++number) {
    state_.port(named, number).guid = named.is_switch() ? guid : Guid{guid.value() + number};
  }
  return true;
}

bool Faults::linear_fdb_cap(std::string_view node, std::uint16_t cap) {
  const auto index = find_node(state_, node);
  if (!index || !state_.nodes[*index].is_switch()) return false;
  state_.nodes[*index].sw->info.linear_fdb_cap = cap;
  return true;
}

void Faults::loss(Chance chance) { state_.loss = of_2_32(chance); }

bool Faults::node_loss(std::string_view node, Chance chance) {
  auto* faults = node_faults(node);
  if (faults != nullptr) faults->loss = of_2_32(chance);
  return faults != nullptr;
}

bool Faults::link_loss(const Place& place, Chance chance) {
  const auto index = find_port(state_, place);
  if (index) state_.ports[*index].loss = of_2_32(chance);
  return index.has_value();
}

void Faults::latency(Latency latency) { state_.options.latency = latency; }

bool Faults::link_latency(const Place& place, Duration more) {
  const auto index = find_port(state_, place);
  if (!index) return false;
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  state_.ports[*index].extra_latency =
      static_cast<std::uint32_t>(std::clamp(std::int64_t{more.count()}, std::int64_t{0}, kMost));
  return true;
}

bool Faults::set_lid(const Place& place, Lid lid, std::uint8_t lmc) {
  const auto index = find_port(state_, place);
  if (!index) return false;
  state_.ports[*index].info.lid = lid;
  state_.ports[*index].info.lmc = lmc;
  return true;
}

bool Faults::set_m_key(const Place& place, std::uint64_t key, std::uint8_t protect) {
  const auto index = find_port(state_, place);
  if (!index) return false;
  state_.ports[*index].info.m_key = key;
  state_.ports[*index].info.m_key_protect = protect;
  return true;
}

bool Faults::set_p_key(const Place& place, unsigned index, PKey key) {
  const auto port = find_port(state_, place);
  if (!port || index >= pkey_capacity(state_, *port)) return false;
  sim::set_p_key(state_, *port, index, key);
  return true;
}

bool Faults::set_lft_entry(std::string_view node, Lid lid, PortNum port) {
  const auto index = find_node(state_, node);
  if (!index || !state_.nodes[*index].is_switch()) return false;
  auto& sw = *state_.nodes[*index].sw;
  if (lid.value() >= sw.info.linear_fdb_cap) return false;
  if (lid.value() >= sw.lft.size()) sw.lft.resize((lid.value() / 64U + 1U) * 64U, kNoPort.value());
  sw.lft[lid.value()] = port.value();
  return true;
}

bool Faults::trap(const Place& place, std::uint16_t number) {
  const auto index = find_port(state_, place);
  return index && raise_other(state_, *index, number);
}

}  // namespace smd::sim
