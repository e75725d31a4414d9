// SPDX-License-Identifier: Apache-2.0
#include "routing/cabling/free_ports.h"

#include <algorithm>
#include <cstdint>

namespace smd::routing::inline cabling {

bool is_unlinked(const Topology& topology, SwitchIndex s, PortNum port) {
  const auto peer = topology.peer(s, port);
  return peer.sw == kNoSwitch && peer.end == kNoEnd;
}

PortNum most_usual_unlinked(const Topology& topology, SwitchIndex s,
                            const std::map<PortNum, std::size_t>& usual, const std::vector<PortNum>& taken) {
  PortNum best;
  std::size_t most = 0;
  for (const auto& [port, count] : usual) {
    if (count <= most || !is_unlinked(topology, s, port) || std::ranges::count(taken, port) != 0) continue;
    best = port;
    most = count;
  }
  return best;
}

std::map<PortNum, unsigned> FreePorts::usual_ports(SwitchIndex s, SwitchIndex peer) const {
  std::map<PortNum, unsigned> count;
  for (const auto other : template_.of(s).members) {
    for (std::size_t g = 0; other != s && g < topology_.groups(other); ++g) {
      const auto group = topology_.group(other, g);
      if (group.peer != peer) continue;
      for (const auto port : group.ports) ++count[port];
    }
  }
  return count;
}

bool FreePorts::free(SwitchIndex s, PortNum port) const {
  return is_unlinked(topology_, s, port) && !taken_.contains({s, port});
}

std::optional<PortNum> FreePorts::lower(SwitchIndex s, SwitchIndex peer) const {
  std::optional<PortNum> best;
  unsigned most = 0;
  for (const auto& [port, count] : usual_ports(s, peer)) {
    if (count <= most || !free(s, port)) continue;
    best = port;
    most = count;
  }
  return best ? best : only_free(s);
}

std::optional<PortNum> FreePorts::upper(SwitchIndex s, SwitchIndex peer) const {
  const auto rank = ranking_.rank[s];
  std::map<PortNum, unsigned> votes;
  unsigned voters = 0;
  for (SwitchIndex other = 0; other < topology_.switches(); ++other) {
    if (other == peer || ranking_.rank[other] != ranking_.rank[peer]) continue;
    bool votes_too = false;
    for (std::size_t g = 0; g < topology_.groups(other); ++g) {
      const auto [below, ports] = topology_.group(other, g);
      if (ranking_.rank[below] != rank || pods_.of(below, rank) != pods_.of(s, rank)) continue;
      votes_too = true;
      for (const auto port : ports) ++votes[port];
    }
    voters += votes_too ? 1 : 0;
  }
  for (const auto& [port, count] : votes) {
    if (count * 2 > voters && free(peer, port)) return port;
  }
  return only_free(peer);
}

std::optional<SwitchIndex> FreePorts::not_reached(SwitchIndex s) const {
  const auto rank = ranking_.rank[s];
  std::map<SwitchIndex, bool> reached;
  for (SwitchIndex other = 0; other < topology_.switches(); ++other) {
    if (ranking_.rank[other] != rank) continue;
    for (std::size_t g = 0; g < topology_.groups(other); ++g) {
      const auto above = topology_.group(other, g).peer;
      if (ranking_.rank[above] < rank) reached[above] |= pods_.of(other, rank) == pods_.of(s, rank);
    }
  }
  const auto is_not = [](const auto& entry) { return !entry.second; };
  if (std::ranges::count_if(reached, is_not) != 1) return std::nullopt;
  return std::ranges::find_if(reached, is_not)->first;
}

std::optional<PortNum> FreePorts::only_free(SwitchIndex s) const {
  std::optional<PortNum> found;
  for (unsigned p = 1; p <= topology_.ports(s); ++p) {
    const PortNum port{static_cast<std::uint8_t>(p)};
    if (!free(s, port)) continue;
    if (found) return std::nullopt;
    found = port;
  }
  return found;
}

std::vector<FreePorts::Empty> FreePorts::empty(SwitchIndex s) const {
  std::vector<Empty> all;
  for (unsigned p = 1; p <= topology_.ports(s); ++p) {
    const PortNum port{static_cast<std::uint8_t>(p)};
    if (!free(s, port)) continue;
    std::map<SwitchIndex, std::size_t> places;
    std::size_t others = 0, up = 0;
    for (SwitchIndex other = 0; other < topology_.switches(); ++other) {
      if (ranking_.rank[other] != ranking_.rank[s] || template_.group_of[other] == template_.group_of[s])
        continue;
      ++others;
      const auto peer = topology_.peer(other, port).sw;
      if (peer == kNoSwitch || ranking_.rank[peer] >= ranking_.rank[other]) continue;
      ++up;
      ++places[peer];
    }
    if (up * 2 <= others) continue;
    const auto most = std::ranges::max_element(places, {}, [](const auto& entry) { return entry.second; });
    all.push_back({port, most->second * 2 > others ? most->first : kNoSwitch});
  }
  return all;
}

}  // namespace smd::routing::inline cabling
