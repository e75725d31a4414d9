// SPDX-License-Identifier: Apache-2.0
#pragma once
// What fabrics lose: cables and switches taken away, everything else as it was.

#include <algorithm>
#include <random>
#include <vector>

#include "tests/support/routing_fabrics.h"

namespace smd::routing::fabrics {

/// A fabric with its LIDs: parts can be removed, and the others keep their LIDs.
struct Told {
  TopologyInput input;
  std::vector<LidRange> switch_lids, end_lids;

  Routable routable() const {
    Routable r{Topology(input), {}, switch_lids, end_lids};
    r.lids = LidMap(r.topology, switch_lids, end_lids);
    return r;
  }
};

inline Told told(const TopologyInput& input, std::uint8_t lmc = 0, unsigned gap = 0) {
  auto r = with_lids(input, lmc, gap);
  return {input, std::move(r.switch_lids), std::move(r.end_lids)};
}

/// Without some switches, their cables and their end ports.
inline Told without_switches(const Told& whole, const std::vector<bool>& gone) {
  Told rest;
  std::vector<SwitchIndex> place(whole.input.switches.size(), kNoSwitch);
  for (SwitchIndex s = 0; s < place.size(); ++s) {
    if (gone[s]) continue;
    place[s] = static_cast<SwitchIndex>(rest.input.switches.size());
    rest.input.switches.push_back(whole.input.switches[s]);
    rest.switch_lids.push_back(whole.switch_lids[s]);
  }
  for (auto link : whole.input.links) {
    if (gone[link.a] || gone[link.b]) continue;
    link.a = place[link.a];
    link.b = place[link.b];
    rest.input.links.push_back(link);
  }
  for (std::size_t i = 0; i < whole.input.end_ports.size(); ++i) {
    auto end = whole.input.end_ports[i];
    if (end.sw != kNoSwitch && gone[end.sw]) continue;
    if (end.sw != kNoSwitch) end.sw = place[end.sw];
    rest.input.end_ports.push_back(end);
    rest.end_lids.push_back(whole.end_lids[i]);
  }
  return rest;
}

/// Without `links` cables and `switches` switches, chosen at random.
inline Told damaged(const Told& whole, std::uint64_t seed, std::size_t links, std::size_t switches) {
  std::mt19937_64 random(seed);
  auto rest = whole;
  auto& cables = rest.input.links;
  for (; links != 0 && !cables.empty(); --links) {
    std::swap(cables[random() % cables.size()], cables.back());
    cables.pop_back();
  }
  std::vector<bool> gone(whole.input.switches.size());
  for (; switches != 0 && !gone.empty(); --switches) gone[random() % gone.size()] = true;
  return without_switches(rest, gone);
}

}  // namespace smd::routing::fabrics
