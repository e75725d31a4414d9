// SPDX-License-Identifier: Apache-2.0
// Detects cables that do not join two switches, and leaves that no cable joins to the others.
#include <fmt/format.h>

#include <algorithm>

#include "routing/cabling/health.h"

namespace smd::routing::inline cabling {

void check_loopbacks(const HealthInput& in, Health& health) {
  const auto& topology = in.topology;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    for (unsigned p = 1; p <= topology.ports(s); ++p) {
      const PortNum port{static_cast<std::uint8_t>(p)};
      const auto peer = topology.peer(s, port);
      if (peer.sw != s || peer.port < port) continue;
      const auto guid = topology.guid(s);
      const auto name = in.name(guid);
      if (peer.port == port) {
        health.findings.push_back(
            {CablingFault::extra, {{guid, port}}, fmt::format("{} port {} is cabled to itself", name, port)});
      } else {
        health.findings.push_back({CablingFault::extra,
                                   {{guid, port}, {guid, peer.port}},
                                   fmt::format("the cable between {} port {} and {} port {} joins two ports "
                                               "of one switch",
                                               name, port, name, peer.port)});
      }
    }
  }
}

void check_isolated_switches(const HealthInput& in, Health& health) {
  const auto& topology = in.topology;
  if (topology.switches() < 2) return;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    if (!topology.leaf(s) || topology.groups(s) != 0) continue;
    const auto guid = topology.guid(s);
    const auto names_it = [&](const Finding& finding) {
      return std::ranges::find(finding.ports, guid, &PortName::node) != finding.ports.end();
    };
    if (std::ranges::any_of(health.findings, names_it)) continue;
    health.findings.push_back({CablingFault::uneven,
                               {{guid, PortNum{}}},
                               fmt::format("{} and its {} hosts are alone: no cable leads to another switch",
                                           in.name(guid), topology.hosts(s))});
  }
}

}  // namespace smd::routing::inline cabling
