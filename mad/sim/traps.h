// SPDX-License-Identifier: Apache-2.0
#pragma once
// Traps: sent from a port to its SM as real LID-routed MADs, again and again until repressed. One of a kind
// waits at a port at a time; they are lost where there is no route, as on hardware.

#include "mad/sim/state.h"
#include "mad/wire/smp.h"

namespace smd::sim {

void raise_link_state(State& state, NodeIndex node);                           ///< 128, by a switch
void raise_capability_mask(State& state, PortIndex end_port);                  ///< 144: the mask has changed
void raise_node_description(State& state, PortIndex end_port);                 ///< 144: another name
void raise_bad_m_key(State& state, PortIndex end_port, const wire::Smp& smp);  ///< 256
/// Any other trap, with details that name this port: 129 to 131, 145, 257 to 259. False: not one of them.
bool raise_other(State& state, PortIndex port, std::uint16_t number);

/// A TrapRepress has come to the end port.
void repress(State& state, PortIndex end_port, const wire::Smp& smp);

}  // namespace smd::sim
