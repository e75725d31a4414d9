// SPDX-License-Identifier: Apache-2.0
#pragma once
// The words before the first dot of an event: what [log] modules and `smd log LEVEL MODULE` may name.
// A test holds this list against the events that the sources write.

#include <array>
#include <string_view>

namespace smd::log {

inline constexpr std::array<std::string_view, 16> kModules{
    "apply", "config", "decide", "device", "ha", "link", "log",   "mad",
    "node",  "plan",   "port",   "route",  "sm", "smp",  "sweep", "trap"};

}  // namespace smd::log
