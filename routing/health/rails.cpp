// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "routing/health/health.h"

namespace smd::routing {
namespace {

/// A machine's adapters, by GUID. What has no system image GUID is no machine of several.
using Machines = std::map<Guid, std::vector<EndIndex>>;

Machines machines(const Topology& topology) {
  Machines all;
  const auto ends = topology.end_ports();
  for (EndIndex e = 0; e < ends.size(); ++e) {
    if (ends[e].kind == EndKind::aggregation || ends[e].sw == kNoSwitch) continue;
    if (ends[e].system_image.value() != 0) all[ends[e].system_image].push_back(e);
  }
  for (auto& [image, ports] : all) {
    std::ranges::sort(ports, {}, [&](EndIndex e) { return std::pair(ends[e].guid, e); });
  }
  return all;
}

/// The number of adapters that three of four machines have; 0 where there is none such or it is 1.
std::size_t usual_count(const Machines& all) {
  std::map<std::size_t, std::size_t> counts;
  for (const auto& [image, ports] : all) ++counts[ports.size()];
  for (const auto& [count, machines] : counts) {
    if (machines * 4 >= all.size() * 3) return count > 1 ? count : 0;
  }
  return 0;
}

constexpr std::size_t kNoRail = ~std::size_t{0};

/// The rail of each switch: that of nine of ten adapters on it.
std::vector<std::size_t> rails_of_leaves(const Topology& topology, const Machines& all, std::size_t count) {
  std::vector<std::map<std::size_t, std::size_t>> seen(topology.switches());
  for (const auto& [image, ports] : all) {
    if (ports.size() != count) continue;
    for (std::size_t rail = 0; rail < count; ++rail) ++seen[topology.end_ports()[ports[rail]].sw][rail];
  }
  std::vector<std::size_t> rails(topology.switches(), kNoRail);
  for (SwitchIndex s = 0; s < rails.size(); ++s) {
    std::size_t sum = 0;
    for (const auto& [rail, adapters] : seen[s]) sum += adapters;
    for (const auto& [rail, adapters] : seen[s]) {
      if (adapters * 4 >= sum * 3) rails[s] = rail;
    }
  }
  return rails;
}

}  // namespace

void examine_rails(const HealthInput& in, Health& health) {
  const auto all = machines(in.topology);
  const auto count = usual_count(all);
  if (count == 0) return;
  const auto ends = in.topology.end_ports();
  const auto rails = rails_of_leaves(in.topology, all, count);
  std::set<std::size_t> known;
  for (const auto leaf : in.topology.leaves()) known.insert(rails[leaf]);
  if (known.contains(kNoRail) || known.size() != count) return;  // not a fabric of rails
  for (const auto& [image, ports] : all) {
    std::set<std::size_t> served;
    for (std::size_t i = 0; i < ports.size(); ++i) {
      const auto& end = ends[ports[i]];
      const auto rail = rails[end.sw];
      served.insert(rail);
      if (ports.size() != count || rail == i) continue;
      health.findings.push_back(
          {Ailment::rail,
           {{in.topology.guid(end.sw), end.port}},
           fmt::format("{} port {} leads to adapter {} of {}, which is of rail {}; {} is for rail {}",
                       in.name(in.topology.guid(end.sw)), end.port, i + 1, in.name(end.node), i + 1,
                       in.name(in.topology.guid(end.sw)), rail + 1)});
    }
    if (ports.size() >= count) continue;
    for (std::size_t rail = 0; rail < count; ++rail) {
      if (served.contains(rail)) continue;
      health.findings.push_back({Ailment::rail,
                                 {{ends[ports.front()].node, PortNum{}}},
                                 fmt::format("the machine of {} has no adapter on rail {} of {}",
                                             in.name(ends[ports.front()].node), rail + 1, count)});
    }
  }
}

}  // namespace smd::routing
