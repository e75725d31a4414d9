// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/agents/links.h"

#include <algorithm>
#include <utility>

#include "mad/sim/agents/traps.h"
#include "mad/sim/state/rates.h"

namespace smd::sim {
namespace {

bool may_link(const State& state, PortIndex index) {
  const auto& port = state.ports[index];
  return port.peer != kNowhere && !port.cut && !port.disabled && !port.split && !state.nodes[port.node].gone;
}

bool sleeps(const Port& port) { return port.info.phys_state == PhysState::sleep; }

void to_init(State& state, PortIndex index) {
  auto& port = state.ports[index];
  port.info.phys_state = PhysState::link_up;
  port.info.port_state = PortState::init;
  port.vls = port.info.operational_vls;
  state_changed(state, index);
}

void to_init(State& state, PortIndex index, const Rate& rate) {
  show_rate(state.ports[index], rate);
  to_init(state, index);
}

/// By the seed, and the same each time that the link trains.
Duration training_of(const State& state, PortIndex index) {
  const auto& [shortest, longest] = state.options.training;
  if (longest <= shortest) return shortest;
  const auto link = std::min(index, state.ports[index].peer);
  Random random(state.options.seed * base::kSplitmixStep + link);
  return shortest + Duration{static_cast<Duration::rep>(
                        random.next() % static_cast<std::uint64_t>((longest - shortest).count() + 1))};
}

enum class Cause : std::uint8_t { failure, far_end, set };

/// What an SM has asked for is no failure, and not counted as one; where it was Set, it is no change of the
/// link's own either.
void to_down(State& state, PortIndex index, Cause cause) {
  auto& port = state.ports[index];
  const bool was_up = port.info.port_state != PortState::down;
  port.info.port_state = PortState::down;
  port.info.phys_state = port.disabled ? PhysState::disabled : port.info.link_down_default;
  show_no_rate(port);
  if (!was_up) return;
  if (cause == Cause::failure) counters_of(state, index).add(Counter::link_downed, 1);
  if (cause != Cause::set || !state.options.firmware.edge_traps) state_changed(state, index);
}

void both_down(State& state, PortIndex index, bool failed) {
  to_down(state, index, failed ? Cause::failure : Cause::set);
  const auto peer = state.ports[index].peer;
  if (peer != kNowhere && peer != index) to_down(state, peer, failed ? Cause::failure : Cause::far_end);
}

bool disable(State& state, PortIndex index) {
  state.ports[index].disabled = true;
  both_down(state, index, false);
  return true;
}

/// The logical state alone: the link stays, with its rate.
void begin_anew(State& state, PortIndex index) {
  const auto peer = state.ports[index].peer;
  to_init(state, index);
  if (peer != kNowhere && peer != index) to_init(state, peer);
}

/// Down, into this physical state; it trains again where one end polls.
bool restart(State& state, PortIndex index, PhysState wanted) {
  auto& port = state.ports[index];
  port.disabled = false;
  both_down(state, index, false);
  if (wanted != PhysState::no_change) port.info.phys_state = wanted;
  try_link(state, index);
  return true;
}

bool go_down(State& state, PortIndex index, PhysState wanted) {
  const bool logical = wanted == PhysState::no_change && !state.options.firmware.down_retrains;
  if (logical && state.ports[index].link_up()) {
    begin_anew(state, index);
    return true;
  }
  switch (wanted) {
    case PhysState::no_change:
    case PhysState::polling:
    case PhysState::sleep:
      return restart(state, index, wanted);
    case PhysState::disabled:
      return disable(state, index);
    default:
      return false;
  }
}

}  // namespace

void link_now(State& state, PortIndex a) {
  if (!may_link(state, a) || state.ports[a].link_up()) return;
  const auto b = state.ports[a].peer;
  if (!may_link(state, b)) return;
  if (sleeps(state.ports[a]) && sleeps(state.ports[b])) return;  // a port in Sleep answers one that polls
  const auto rate = negotiate(state.ports[a], state.ports[b]);
  if (!rate) return;
  to_init(state, a, *rate);
  if (a != b) to_init(state, b, *rate);
}

const Flap* flap_of(const State& state, PortIndex index) {
  auto found = state.flaps.find(index);
  if (found == state.flaps.end()) found = state.flaps.find(state.ports[index].peer);
  return found == state.flaps.end() ? nullptr : &found->second;
}

void state_changed(State& state, PortIndex index) {
  auto& node = state.node_of(index);
  if (!node.is_switch() || node.gone || state.ports[index].number == PortNum{0}) return;
  const bool told = std::exchange(node.sw->info.port_state_change, true);
  if (told && state.options.firmware.edge_traps) return;
  raise_link_state(state, state.ports[index].node);
}

void try_link(State& state, PortIndex index) {
  if (!may_link(state, index)) return;
  const auto time = training_of(state, index);
  if (time == Duration{0}) return link_now(state, index);
  const auto link = std::min(index, state.ports[index].peer);
  const auto ends = state.ports[link].trained_at = state.now + time;
  state.schedule.at(ends, [&state, index, link, ends] {
    if (state.ports[link].trained_at == ends) link_now(state, index);  // else it has begun anew
  });
}

void drop_link(State& state, PortIndex index) { both_down(state, index, true); }

// qib_mad.c of Linux: only Down, Armed and Active can be asked for, and the physical state only together with
// Down or no change. That a port goes Active only beside an end that is Armed at least is ibsim's rule, which
// opensm lives with.
bool set_port_state(State& state, PortIndex index, PortState wanted, PhysState phys) {
  auto& port = state.ports[index];
  const auto now = port.info.port_state;
  if (phys != PhysState::no_change && wanted != PortState::no_change && wanted != PortState::down)
    return false;
  switch (wanted) {
    case PortState::no_change:
      return phys == PhysState::no_change || go_down(state, index, phys);
    case PortState::down:
      return go_down(state, index, phys);
    case PortState::armed:
      if (now != PortState::init && now != PortState::armed) return false;
      port.info.port_state = PortState::armed;
      return true;
    case PortState::active: {
      if (now == PortState::active) return !state.options.firmware.refuses_active_again;
      if (now != PortState::armed || port.peer == kNowhere) return false;
      if (state.ports[port.peer].info.port_state < PortState::armed) return false;
      port.info.port_state = PortState::active;
      return true;
    }
    default:
      return false;
  }
}

}  // namespace smd::sim
