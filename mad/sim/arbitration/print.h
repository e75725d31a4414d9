// SPDX-License-Identifier: Apache-2.0
#pragma once
// What data packets did, for people and for programs. docs/simulator.md describes both forms.

#include <span>
#include <string>

#include "mad/sim/arbitration/arbitration.h"

namespace smd::sim {

/// Lines without a last newline.
std::string to_text(const State& state, std::span<const DataFlow> flows, const Arbitration& result);
/// One JSON object.
std::string to_json(const State& state, std::span<const DataFlow> flows, const Arbitration& result);
/// "counted", "time", "nothing moves".
std::string_view to_string(Ending ending);

}  // namespace smd::sim
