// SPDX-License-Identifier: Apache-2.0
// Detects a missing cable in fabrics that are no trees (tori, dragonflies, HyperX) by port numbers: whatever
// their form, all switches use the same ports for cables to others.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "routing/cabling/health.h"

namespace smd::routing::inline cabling {
namespace {

/// Rings and lines cannot be told apart: switches with fewer cables than this are not compared.
constexpr std::size_t kFewestCables = 3;
constexpr std::size_t kFewestSwitches = 8;

/// Switches with hosts, and those without.
std::vector<SwitchIndex> switches_of_a_kind(const Topology& topology, bool with_hosts) {
  std::vector<SwitchIndex> all;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    if (topology.leaf(s) == with_hosts) all.push_back(s);
  }
  return all;
}

/// Ports of these switches with nothing, at which all others but one have a cable to another switch (three
/// quarters, where some have hosts there).
std::vector<std::pair<SwitchIndex, PortNum>> empty_positions(const Topology& topology,
                                                             const std::vector<SwitchIndex>& switches) {
  std::map<PortNum, std::vector<SwitchIndex>> empty;
  std::map<PortNum, std::size_t> cabled;
  unsigned ports = 0;  // a file may know of a switch's ports only those in use
  for (const auto s : switches) ports = std::max(ports, topology.ports(s));
  for (const auto s : switches) {
    for (unsigned p = 1; p <= ports; ++p) {
      const PortNum port{static_cast<std::uint8_t>(p)};
      const auto peer = topology.peer(s, port);
      if (peer.sw != kNoSwitch && peer.sw != s) ++cabled[port];
      if (peer.sw == kNoSwitch && peer.end == kNoEnd) empty[port].push_back(s);
    }
  }
  std::vector<std::pair<SwitchIndex, PortNum>> found;
  std::size_t usual = 0;
  for (const auto& [port, count] : cabled) {
    if (empty[port].size() > 2 || count * 4 < switches.size() * 3) continue;
    ++usual;
    for (const auto s : empty[port]) found.emplace_back(s, port);
  }
  if (usual < kFewestCables || switches.size() < kFewestSwitches) found.clear();
  return found;
}

}  // namespace

void check_positions(const HealthInput& in, Health& health) {
  const auto& topology = in.topology;
  auto found = empty_positions(topology, switches_of_a_kind(topology, true));
  const auto inner = empty_positions(topology, switches_of_a_kind(topology, false));
  found.insert(found.end(), inner.begin(), inner.end());
  if (found.size() != 2 || found[0].first == found[1].first) return;
  const auto [a, a_port] = found[0];
  const auto [b, b_port] = found[1];
  health.findings.push_back(
      {CablingFault::missing,
       {{topology.guid(a), a_port}, {topology.guid(b), b_port}},
       fmt::format("no cable between {} port {} and {} port {}: all switches like them have cables to "
                   "other switches at these ports",
                   in.name(topology.guid(a)), a_port, in.name(topology.guid(b)), b_port)});
}

}  // namespace smd::routing::inline cabling
