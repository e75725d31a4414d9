// SPDX-License-Identifier: Apache-2.0
#include "routing/cabling/swap_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace smd::routing::inline cabling {
namespace {

std::uint64_t guids_apart(const Topology& topology, SwitchIndex one, SwitchIndex other) {
  const auto a = topology.guid(one).value(), b = topology.guid(other).value();
  return std::max(a, b) - std::min(a, b);
}

/// Sum of the GUID distances from `s` to the nearest other switch of its rank with a cable to `peer`, and
/// from `peer` to the nearest other switch above `s`.
std::uint64_t to_nearest(const Topology& topology, const SwitchRanking& ranking, SwitchIndex s,
                         SwitchIndex peer, const CableSwap& swap) {
  auto sibling = std::uint64_t{1} << 60U, above = sibling;  // small enough for sums of several
  for (std::size_t g = 0; g < topology.groups(peer); ++g) {
    const auto other = topology.group(peer, g).peer;
    if (other == swap.a || other == swap.b || ranking.rank[other] != ranking.rank[s]) continue;
    sibling = std::min(sibling, guids_apart(topology, s, other));
  }
  const auto moved = s == swap.a ? swap.a_port : swap.b_port;
  for (std::size_t g = 0; g < topology.groups(s); ++g) {
    const auto group = topology.group(s, g);
    const bool stays = group.ports.size() > 1 || group.ports.front() != moved;
    if (group.peer == peer || !stays || ranking.rank[group.peer] >= ranking.rank[s]) continue;
    above = std::min(above, guids_apart(topology, peer, group.peer));
  }
  return sibling + above;
}

/// The fabric but for the links for which `leave_out` is true.
template <class LeaveOut>
TopologyInput input_without(const Topology& topology, const LeaveOut& leave_out) {
  TopologyInput input;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    input.switches.push_back({topology.guid(s), topology.ports(s)});
    for (unsigned p = 1; p <= topology.ports(s); ++p) {
      const PortNum port{static_cast<std::uint8_t>(p)};
      const auto peer = topology.peer(s, port);
      if (peer.sw == kNoSwitch || std::pair(s, port) > std::pair(peer.sw, peer.port)) continue;
      const LinkSpec link{s, port, peer.sw, peer.port};
      if (!leave_out(link)) input.links.push_back(link);
    }
  }
  for (const auto& end : topology.end_ports())
    input.end_ports.push_back({end.guid, end.sw, end.port, end.kind, end.node, end.system_image});
  return input;
}

/// How far the port of `s` is from the nearest by which another switch like it leads to `to`.
unsigned off_port(const Topology& topology, SwitchIndex s, PortNum port, SwitchIndex to) {
  unsigned least = 255;
  for (std::size_t g = 0; g < topology.groups(to); ++g) {
    const auto [peer, ports] = topology.group(to, g);
    if (peer == s || topology.leaf(peer) != topology.leaf(s)) continue;
    for (const auto there : ports) {
      const unsigned other = topology.peer(to, there).port.value(), own = port.value();
      least = std::min(least, std::max(own, other) - std::min(own, other));
    }
  }
  return least;
}

}  // namespace

Topology with_swap(const Topology& topology, const CableSwap& swap) {
  const auto [a, a_port, b, b_port] = swap;
  const auto from_a = topology.peer(a, a_port), from_b = topology.peer(b, b_port);
  auto input = input_without(topology, [&](const LinkSpec& link) {
    const auto is = [&](SwitchIndex one, PortNum one_port) {
      return (link.a == one && link.a_port == one_port) || (link.b == one && link.b_port == one_port);
    };
    return is(a, a_port) || is(b, b_port);
  });
  input.links.push_back({a, a_port, from_b.sw, from_b.port});
  input.links.push_back({b, b_port, from_a.sw, from_a.port});
  return Topology(input);
}

Topology with_cable(const Topology& topology, SwitchIndex a, SwitchIndex b) {
  auto input = input_without(topology, [](const LinkSpec& /*link*/) { return false; });
  const auto add_port = [&](SwitchIndex s) {
    return PortNum{static_cast<std::uint8_t>(input.switches[s].ports = topology.ports(s) + 1)};
  };
  const auto a_port = add_port(a), b_port = add_port(b);
  input.links.push_back({a, a_port, b, b_port});
  return Topology(input);
}

Finding describe(const HealthInput& in, const CableSwap& swap, const std::vector<CableSwap>& others) {
  const auto& topology = in.topology;
  const auto name = [&](SwitchIndex s) { return in.name(topology.guid(s)); };
  const auto [a, a_port, b, b_port] = swap;
  Finding finding{CablingFault::swapped, {{topology.guid(a), a_port}, {topology.guid(b), b_port}}, {}};
  finding.text = fmt::format(
      "the cables at {} port {} and {} port {} are swapped: the first leads to {} and the second to {}, it "
      "should be the other way round",
      name(a), a_port, name(b), b_port, name(topology.peer(a, a_port).sw), name(topology.peer(b, b_port).sw));
  if (others.empty()) return finding;
  const auto& other = others.front();
  finding.text +=
      fmt::format("; or else those at {} port {} and {} port {}{}, which nothing here tells apart",
                  name(other.a), other.a_port, name(other.b), other.b_port,
                  others.size() > 1 ? fmt::format(", or {} more pairs", others.size() - 1) : "");
  return finding;
}

Finding describe_all(const HealthInput& in, const std::vector<CableSwap>& swaps) {
  const std::vector<CableSwap> others(swaps.begin() + 1, swaps.end());
  auto finding = describe(in, swaps.front(), others);
  for (const auto& other : others) {
    finding.ports.push_back({in.topology.guid(other.a), other.a_port});
    finding.ports.push_back({in.topology.guid(other.b), other.b_port});
  }
  return finding;
}

unsigned off_ports(const Topology& topology, const CableSwap& swap) {
  const auto [a, a_port, b, b_port] = swap;
  const auto from_a = topology.peer(a, a_port), from_b = topology.peer(b, b_port);
  return off_port(topology, a, a_port, from_b.sw) + off_port(topology, from_b.sw, from_b.port, a) +
         off_port(topology, b, b_port, from_a.sw) + off_port(topology, from_a.sw, from_a.port, b);
}

std::uint64_t distance(const Topology& topology, const SwitchRanking& ranking, const CableSwap& swap) {
  const auto [a, a_port, b, b_port] = swap;
  return to_nearest(topology, ranking, a, topology.peer(b, b_port).sw, swap) +
         to_nearest(topology, ranking, b, topology.peer(a, a_port).sw, swap);
}

}  // namespace smd::routing::inline cabling
