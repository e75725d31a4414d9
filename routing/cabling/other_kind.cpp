// SPDX-License-Identifier: Apache-2.0
#include "routing/cabling/other_kind.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

namespace smd::routing::inline cabling {
namespace {

using Speeds = std::map<LinkSpeed, std::size_t>;

void count_host_speeds(const HealthInput& in, SwitchIndex s, Speeds& speeds) {
  for (const auto& end : in.topology.end_ports_of(s)) {
    if (end.kind != EndKind::aggregation) ++speeds[in.rate({in.topology.guid(s), end.port}).speed];
  }
}

std::optional<LinkSpeed> usual(const Speeds& speeds) {
  const auto most = std::ranges::max_element(speeds, {}, [](const auto& entry) { return entry.second; });
  return most == speeds.end() ? std::nullopt : std::optional(most->first);
}

bool has_other_hosts(const HealthInput& in, const SwitchGroup& group, SwitchIndex s) {
  Speeds own, others;
  count_host_speeds(in, s, own);
  for (const auto other : group.members) {
    if (other != s) count_host_speeds(in, other, others);
  }
  const auto one = usual(own), most = usual(others);
  return one && most && *one != *most;
}

bool is_cabled_in_a_row(const Topology& topology, const SwitchRanking& ranking, const FreePorts& free_ports,
                        SwitchIndex s) {
  std::vector<PortNum> all;
  bool elsewhere = false;
  for (std::size_t g = 0; g < topology.groups(s); ++g) {
    const auto [peer, ports] = topology.group(s, g);
    if (ranking.rank[peer] >= ranking.rank[s]) continue;
    const auto of_others = free_ports.usual_ports(s, peer);
    for (const auto port : ports) elsewhere = elsewhere || !of_others.contains(port);
    all.insert(all.end(), ports.begin(), ports.end());
  }
  if (!elsewhere) return false;
  const auto [first, last] = std::ranges::minmax(all);
  return last.value() - first.value() + 1U == all.size();
}

/// The first port by which the others of the group lead to `peer`.
std::optional<PortNum> place_of(const FreePorts& free_ports, SwitchIndex s, SwitchIndex peer) {
  const auto ports = free_ports.usual_ports(s, peer);
  return ports.empty() ? std::nullopt : std::optional(ports.begin()->first);
}

}  // namespace

bool closes_up_without(const Topology& topology, const SwitchRanking& ranking, const FreePorts& free_ports,
                       SwitchIndex s, SwitchIndex peer) {
  const auto lacked = place_of(free_ports, s, peer);
  if (!lacked || !is_cabled_in_a_row(topology, ranking, free_ports, s)) return false;
  std::map<PortNum, SwitchIndex> above;  // by own port
  for (std::size_t g = 0; g < topology.groups(s); ++g) {
    const auto group = topology.group(s, g);
    if (ranking.rank[group.peer] >= ranking.rank[s]) continue;
    for (const auto port : group.ports) above[port] = group.peer;
  }
  std::vector<PortNum> places;
  for (const auto& [port, upper] : above) {
    const auto place = place_of(free_ports, s, upper);
    if (!place) return false;
    places.push_back(*place);
  }
  return std::ranges::is_sorted(places) && places.front() < *lacked && *lacked < places.back();
}

bool is_of_another_kind(const HealthInput& in, const SwitchRanking& ranking, const SwitchGroup& group,
                        const FreePorts& free_ports, SwitchIndex s) {
  return has_other_hosts(in, group, s) || is_cabled_in_a_row(in.topology, ranking, free_ports, s);
}

}  // namespace smd::routing::inline cabling
