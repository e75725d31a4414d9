// SPDX-License-Identifier: Apache-2.0
// What nodes do wrong.
#include <algorithm>
#include <utility>

#include "mad/sim/agents/links.h"
#include "mad/sim/agents/traps.h"
#include "mad/sim/fabric/faults.h"
#include "mad/sim/state/reset.h"
#include "mad/sim/state/tables.h"

namespace smd::sim {
namespace {

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
  if (node.faults) node.faults->back.reset();
  for (unsigned number = 1; number <= node.ports; ++number) try_link(state, state.index(node, number));
}

void power_down(State& state, NodeIndex index) {
  auto& node = state.nodes[index];
  node.gone = true;
  if (node.faults) node.faults->back.reset();
  ++node.boots;
  drop_links(state, node);
  reset_node(state, index);
}

/// Calls `raise` for each port of the node that has a LID of its own.
template <class Raise>
void for_each_end_port(State& state, const Node& node, Raise raise) {
  const unsigned first = node.is_switch() ? 0 : 1, last = node.is_switch() ? 0 : node.ports;
  for (unsigned number = first; number <= last; ++number) raise(state, state.index(node, number));
}

}  // namespace

NodeFaults* Faults::node_faults(std::string_view node) {
  const auto index = find_node(state_, node);
  return index ? &faults_of(state_.nodes[*index]) : nullptr;
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

bool Faults::no_smi(std::string_view node) {
  auto* faults = node_faults(node);
  if (faults != nullptr) faults->no_smi = true;
  return faults != nullptr;
}

bool Faults::forgets(std::string_view node, std::uint16_t attribute, std::string field) {
  auto* faults = node_faults(node);
  if (faults == nullptr) return false;
  const auto same = [&](const Forgotten& f) { return f.attribute == attribute && f.field == field; };
  if (std::ranges::none_of(faults->forgets, same)) faults->forgets.push_back({attribute, std::move(field)});
  return true;
}

bool Faults::above_top(std::string_view node, AboveTop does) {
  const auto index = find_node(state_, node);
  if (!index || !state_.nodes[*index].is_switch()) return false;
  faults_of(state_.nodes[*index]).above_top = does;
  return true;
}

bool Faults::refuses_extended_speeds(std::string_view node, std::uint16_t status) {
  auto* faults = node_faults(node);
  if (faults != nullptr) faults->extended_speeds_status = status;
  return faults != nullptr;
}

bool Faults::ignores_extended_speeds(std::string_view node, bool on) {
  auto* faults = node_faults(node);
  if (faults != nullptr) faults->ignores_extended_speeds = on;
  return faults != nullptr;
}

bool Faults::reboot(std::string_view node, Duration takes) {
  const auto index = find_node(state_, node);
  if (!index) return false;
  power_down(state_, *index);
  if (takes == Duration{0}) {
    power_up(state_, *index);
  } else {
    faults_of(state_.nodes[*index]).back = state_.now + takes;
    // Who takes it down again meanwhile decides when it comes back.
    state_.schedule.at(state_.now + takes, [state = &state_, i = *index, boots = state_.nodes[*index].boots] {
      if (state->nodes[i].boots == boots) power_up(*state, i);
    });
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
  state_.nodes[*index].name = std::move(name);
  for_each_end_port(state_, state_.nodes[*index], raise_node_description);
  return true;
}

bool Faults::set_system_image(std::string_view node, Guid guid) {
  const auto index = find_node(state_, node);
  if (!index) return false;
  state_.nodes[*index].system_image = guid;
  for_each_end_port(state_, state_.nodes[*index], raise_system_image);
  return true;
}

bool Faults::heal(std::string_view node) {
  const auto index = find_node(state_, node);
  if (index) state_.nodes[*index].faults.reset();
  return index.has_value();
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

bool Faults::vl_cap(std::string_view node, std::uint8_t code) {
  const auto index = find_node(state_, node);
  if (!index || data_vls(code) == 0) return false;
  auto& named = state_.nodes[*index];
  named.vl_cap = code;
  for (unsigned number = 0; number <= named.ports; ++number) {
    auto& port = state_.port(named, number);
    port.info.vl_cap = code;
    port.info.operational_vls = std::min(port.info.operational_vls, code);
    port.vls = std::min(port.vls, code);
  }
  return true;
}

bool Faults::linear_fdb_cap(std::string_view node, std::uint16_t cap) {
  const auto index = find_node(state_, node);
  if (!index || !state_.nodes[*index].is_switch()) return false;
  state_.nodes[*index].sw->info.linear_fdb_cap = cap;
  return true;
}

}  // namespace smd::sim
