// SPDX-License-Identifier: Apache-2.0
#pragma once
// The words before the first dot of an event: what [log] modules and `smd log LEVEL MODULE` may name.
// A test holds this list against the events that the sources write: a new module is added here.

#include <array>
#include <string_view>

namespace smd::log {

inline constexpr std::array<std::string_view, 26> kModules{
    "api",   "config",    "field",   "guid",     "ha",        "lid",   "link",   "links",   "log",
    "m_key", "multicast", "node",    "own_port", "partition", "port",  "qos",    "routing", "sa",
    "set",   "sm",        "sm_info", "store",    "subnet",    "sweep", "switch", "trap"};

}  // namespace smd::log
