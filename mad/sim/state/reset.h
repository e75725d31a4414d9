// SPDX-License-Identifier: Apache-2.0
#pragma once
// A fabric as it is when power comes on.

#include "mad/sim/state/state.h"

namespace smd::sim {

/// Nodes and cables of the description; every device is reset, LIDs are the description's, links are up.
State power_on(const base::Fabric& description, const Options& options);

/// A device as after its reset: tables empty, ports Down, no LID. Its faults and cables stay.
void reset_node(State& state, NodeIndex node);

/// Capability bits that PortInfo of an end port shows, the SM's excepted.
std::uint32_t end_port_capabilities(const Node& node);

}  // namespace smd::sim
