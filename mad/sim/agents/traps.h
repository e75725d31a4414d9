// SPDX-License-Identifier: Apache-2.0
#pragma once
// Traps: sent from a port to its SM as real LID-routed MADs, again and again until repressed. One of a kind
// waits at a port at a time; they are lost where there is no route, as on hardware.

#include "mad/sim/state/state.h"
#include "mad/wire/smp.h"
#include "mad/wire/trap.h"

namespace smd::sim {

/// Each sends the trap of the number behind it to the SM of the port, and again after each gap until
/// repress(); nothing where the port does not know its SM yet.
void raise_link_state(State& state, NodeIndex node);                           ///< 128, by a switch
void raise_capability_mask(State& state, PortIndex end_port);                  ///< 144: the mask has changed
void raise_node_description(State& state, PortIndex end_port);                 ///< 144: another name
void raise_bad_m_key(State& state, PortIndex end_port, const wire::Smp& smp);  ///< 256
void raise_system_image(State& state, PortIndex end_port);                     ///< 145
void raise_bad_key(State& state, PortIndex end_port, std::uint16_t number,
                   const wire::BadKeyDetails& details);  ///< 257, 258
void raise_bad_p_key_at_switch(State& state, PortIndex port0,
                               const wire::BadPKeyAtSwitchDetails& details);  ///< 259
/// 129 to 131, which name the port where the errors are. False: another number.
bool raise_port_error(State& state, PortIndex port, std::uint16_t number);

/// Ends the end port's trap that a received TrapRepress names, by its notice or only by its transaction.
void repress(State& state, PortIndex end_port, const wire::Smp& smp);

}  // namespace smd::sim
