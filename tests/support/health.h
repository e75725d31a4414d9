// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is wrong with the cabling of a fabric that a test has made.

#include <fmt/format.h>

#include <map>

#include "routing/cabling/health.h"

namespace smd::routing {

/// Ports without a rate of their own have 4x HDR; nodes are named by their GUIDs.
inline Health examined(const TopologyInput& input, const std::map<PortName, PortRate>& rates = {}) {
  const Topology topology(input);
  const auto rate = [&](PortName port) {
    const auto at = rates.find(port);
    return at != rates.end() ? at->second : PortRate{LinkWidth::x4, LinkSpeed::hdr};
  };
  return check_cabling({.topology = topology, .rate = rate, .name = [](Guid guid) {
                          return fmt::format("N{:x}", guid.value());
                        }});
}

}  // namespace smd::routing
