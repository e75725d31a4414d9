// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is wrong at this moment, in words, one fault each: "silent", "slow 250 ms", "loss 2 %".

#include <string>
#include <vector>

#include "mad/sim/state/state.h"

namespace smd::sim {

/// Faults that concern all packets.
std::vector<std::string> in_force(const State& state);
/// With the node: what is wrong with its ports is not among it.
std::vector<std::string> in_force(const State& state, const Node& node);
/// With the port or its link, whose ends say the same of it.
std::vector<std::string> in_force(const State& state, PortIndex port);

}  // namespace smd::sim
