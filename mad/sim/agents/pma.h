// SPDX-License-Identifier: Apache-2.0
#pragma once
// The performance management agent of a node: answers Get and Set of a port's counters.

#include <cstdint>
#include <span>

#include "mad/sim/state/state.h"
#include "mad/wire/mad.h"

namespace smd::sim {

/// Serves a request in place: afterwards the bytes are the answer. False: not a request to this agent.
bool serve_performance(State& state, PortIndex at, const wire::MadHeader& header,
                       std::span<std::uint8_t> bytes);

}  // namespace smd::sim
