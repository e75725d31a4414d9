// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/lattice_line.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace smd::routing::inline engines {

LatticeLine::LatticeLine(const Topology& topology, std::span<const SwitchIndex> members,
                         std::span<const std::uint32_t> line_of, std::span<const std::uint32_t> at,
                         std::size_t root)
    : base_{0}, down_(members.size()), any_(members.size()) {
  for (const auto s : members) {
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto peer = topology.group(s, g).peer;
      if (line_of[peer] == line_of[s]) neighbours_.push_back({at[peer], static_cast<std::uint8_t>(g)});
    }
    base_.push_back(static_cast<std::uint32_t>(neighbours_.size()));
  }
  rank(root);
}

void LatticeLine::rank(std::size_t root) {
  const auto count = static_cast<std::uint32_t>(base_.size() - 1);
  std::vector<std::uint32_t> by_degree(count);
  std::iota(by_degree.begin(), by_degree.end(), std::uint32_t{0});
  std::ranges::rotate(by_degree, by_degree.begin() + static_cast<std::ptrdiff_t>(root));
  // Where a cable is missing between two switches of a complete graph the way around goes over those above
  // the lower one: switches with missing cables come last.
  const auto degree = [&](std::uint32_t place) { return neighbours(place).size(); };
  if (std::ranges::any_of(by_degree, [&](auto place) { return degree(place) > 2; })) {
    const auto key = [&](std::uint32_t place) { return std::pair(count - degree(place), place); };
    std::ranges::sort(by_degree, {}, key);
    for (std::uint32_t place = 0; place < count; ++place) {
      std::ranges::sort(std::span(neighbours_).subspan(base_[place], degree(place)), {},
                        [&](const Neighbour& n) { return key(n.place); });
    }
  }
  std::vector<std::uint32_t> hops(count, kFar);
  std::size_t next = 0;
  // A line that lost cables may have several parts: each has its root.
  for (const auto start : by_degree) {
    if (hops[start] != kFar) continue;
    hops[start] = 0;
    order_.push_back(start);
    for (; next < order_.size(); ++next) {
      for (const auto& neighbour : neighbours(order_[next])) {
        if (hops[neighbour.place] != kFar) continue;
        hops[neighbour.place] = hops[order_[next]] + 1;
        order_.push_back(neighbour.place);
      }
    }
  }
  rank_.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) rank_[order_[i]] = i;
}

void LatticeLine::towards(std::uint32_t place) {
  std::ranges::fill(down_, kFar);
  std::ranges::fill(any_, kFar);
  down_[place] = any_[place] = 0;
  for (std::uint32_t i = rank_[place]; i-- > 0;) {  // above it: the lowest first
    const auto here = order_[i];
    for (const auto& neighbour : neighbours(here)) {
      if (rank_[neighbour.place] < i || down_[neighbour.place] == kFar) continue;
      down_[here] = std::min(down_[here], down_[neighbour.place] + 1);
    }
  }
  for (std::uint32_t i = 0; i < order_.size(); ++i) {
    const auto here = order_[i];
    // A packet may have come from above: a switch with a path down uses it.
    any_[here] = down_[here];
    if (down_[here] != kFar) continue;
    for (const auto& neighbour : neighbours(here)) {
      if (rank_[neighbour.place] < i && any_[neighbour.place] != kFar)
        any_[here] = std::min(any_[here], any_[neighbour.place] + 1);
    }
  }
  wide_ = std::ranges::none_of(any_, [](auto hops) { return hops > 2 && hops != kFar; });
}

GroupSet LatticeLine::next(std::uint32_t place) const {
  GroupSet set;
  if (any_[place] == kFar || any_[place] == 0) return set;
  const bool down = down_[place] != kFar;
  for (const auto& neighbour : neighbours(place)) {
    const bool below = rank_[neighbour.place] > rank_[place];
    const auto hops = down ? down_[neighbour.place] : any_[neighbour.place];
    // If all have at most two hops no packet passes a switch that has two itself: it may go up although there
    // is a path down.
    const bool around = wide_ && !below && any_[place] == 2 && any_[neighbour.place] == 1;
    if (around || (below == down && hops != kFar && hops + 1 == any_[place]))
      set.words[neighbour.group / 64U] |= std::uint64_t{1} << (neighbour.group % 64U);
  }
  return set;
}

}  // namespace smd::routing::inline engines
