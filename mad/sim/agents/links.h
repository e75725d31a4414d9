// SPDX-License-Identifier: Apache-2.0
#pragma once
// The port state machine: Down, Init, Armed, Active, and what the other end of the cable makes of it.

#include "mad/sim/state/state.h"

namespace smd::sim {

/// Both ends of the port's cable leave Down for Init where nothing stands against it.
void link_now(State& state, PortIndex port);
/// The same after the training time; each call starts that time again.
void try_link(State& state, PortIndex port);
/// Both ends go Down; they train again where nothing stands against it.
void drop_link(State& state, PortIndex port);

/// What PortInfo.PortState and PortPhysState of a Set ask for. False: refused (status 0x1C), nothing changed.
bool set_port_state(State& state, PortIndex port, PortState state_wanted, PhysState phys_wanted);

/// Notes a change of state that the link made by itself: PortStateChange and trap 128 of a switch.
void state_changed(State& state, PortIndex port);

/// Of the port's link, whichever end it was asked for; null: it does not flap.
const Flap* flap_of(const State& state, PortIndex port);

}  // namespace smd::sim
