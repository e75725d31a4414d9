// SPDX-License-Identifier: Apache-2.0
// Faults of links and packets. Those of nodes: faults_node.cpp; of values: faults_values.cpp.
#include "mad/sim/fabric/faults.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "mad/sim/agents/links.h"

namespace smd::sim {
namespace {

std::uint32_t of_2_32(Chance chance) {
  constexpr double kAll = 4294967295.0;
  return static_cast<std::uint32_t>(std::clamp(chance, 0.0, 1.0) * kAll);
}

void cut(State& state, PortIndex port, bool on) {
  state.ports[port].cut = on;
  state.ports[state.ports[port].peer].cut = on;
  if (on) {
    drop_link(state, port);
  } else {
    try_link(state, port);
  }
}

void end_flap(State& state, PortIndex port) {
  state.flaps.erase(port);
  state.flaps.erase(state.ports[port].peer);
}

void flap(State& state, PortIndex port, std::uint64_t timer) {
  const auto found = state.flaps.find(port);
  if (found == state.flaps.end() || found->second.timer != timer) return;
  cut(state, port, !state.ports[port].cut);
  state.schedule.at(state.now + found->second.period, [&state, port, timer] { flap(state, port, timer); });
}

std::optional<PortIndex> cabled(const State& state, const Place& place) {
  const auto index = find_port(state, place);
  return index && state.ports[*index].peer != kNowhere ? index : std::nullopt;
}

}  // namespace

bool Faults::link_down(const Place& place) {
  const auto index = cabled(state_, place);
  if (!index) return false;
  end_flap(state_, *index);
  cut(state_, *index, true);
  return true;
}

bool Faults::link_up(const Place& place) {
  const auto index = cabled(state_, place);
  if (!index) return false;
  end_flap(state_, *index);
  cut(state_, *index, false);
  return true;
}

bool Faults::link_flaps(const Place& place, Duration period) {
  const auto index = cabled(state_, place);
  if (!index || !link_up(place)) return false;
  const auto timer = state_.next_timer++;
  state_.flaps[*index] = {.period = period, .timer = timer};
  flap(state_, *index, timer);
  return true;
}

bool Faults::link_rate(const Place& place, LinkWidth width, LinkSpeed speed) {
  const auto index = cabled(state_, place);
  if (!index) return false;
  for (const auto end : {*index, state_.ports[*index].peer}) {
    state_.ports[end].cable_width = width;
    state_.ports[end].cable_speed = speed;
  }
  drop_link(state_, *index);
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
  end_flap(state_, far);
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

void Faults::loss(Chance chance) { state_.loss = of_2_32(chance); }

void Faults::rmpp_loss(Chance chance) { state_.rmpp_loss = of_2_32(chance); }

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

}  // namespace smd::sim
