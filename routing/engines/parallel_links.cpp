// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/parallel_links.h"

#include <algorithm>

#include "routing/ranking/disjoint_sets.h"

namespace smd::routing::inline engines {
namespace {

constexpr LinkIndex kNoLink = ~LinkIndex{0};
/// Squares are merged by class when there are so many.
constexpr std::size_t kCompactAt = std::size_t{1} << 20;

class SquareSearch {
 public:
  explicit SquareSearch(const SwitchLinks& links)
      : links_(links),
        topology_(links.topology()),
        sets_(links.size()),
        from_a_(topology_.switches(), kNoLink),
        beside_(topology_.switches()) {}

  ParallelLinks run() {
    for (SwitchIndex s = 0; s < topology_.switches(); ++s) at_corner(s);
    return result();
  }

 private:
  /// Every triangle and square is found at its lowest switch.
  void at_corner(SwitchIndex s) {
    for (std::size_t g = 0; g < topology_.groups(s); ++g) beside_[topology_.group(s, g).peer] = true;
    for (std::size_t g = 0; g < topology_.groups(s); ++g) {
      const auto a = topology_.group(s, g).peer;
      if (a < s) continue;
      for (std::size_t i = 0; i < topology_.groups(a); ++i)
        from_a_[topology_.group(a, i).peer] = links_.of(a, i);
      for (std::size_t h = g + 1; h < topology_.groups(s); ++h) at_pair(s, g, h);
      for (std::size_t i = 0; i < topology_.groups(a); ++i) from_a_[topology_.group(a, i).peer] = kNoLink;
    }
    for (std::size_t g = 0; g < topology_.groups(s); ++g) beside_[topology_.group(s, g).peer] = false;
    if (squares_.size() > kCompactAt) compact();
  }

  /// Neighbours are ascending: the one of `h` is behind that of `g`, which is behind `s`.
  void at_pair(SwitchIndex s, std::size_t g, std::size_t h) {
    const auto b = topology_.group(s, h).peer;
    const auto to_a = links_.of(s, g), to_b = links_.of(s, h);
    if (from_a_[b] != kNoLink) {
      sets_.join(to_a, to_b);
      sets_.join(to_a, from_a_[b]);
      return;
    }
    for (std::size_t i = 0; i < topology_.groups(b); ++i) {
      const auto opposite = topology_.group(b, i).peer;
      if (opposite <= s || from_a_[opposite] == kNoLink || beside_[opposite]) continue;
      sets_.join(to_a, links_.of(b, i));
      sets_.join(to_b, from_a_[opposite]);
      squares_.emplace_back(to_a, to_b);
    }
  }

  void compact() {
    for (auto& [one, other] : squares_) {
      const auto a = sets_.first(one), b = sets_.first(other);
      one = std::min(a, b);
      other = std::max(a, b);
    }
    std::ranges::sort(squares_);
    const auto repeated = std::ranges::unique(squares_);
    squares_.erase(repeated.begin(), repeated.end());
  }

  ParallelLinks result() {
    ParallelLinks found;
    found.class_of.resize(links_.size());
    for (LinkIndex link = 0; link < links_.size(); ++link) {
      const auto first = sets_.first(link);
      found.class_of[link] =
          first == link ? static_cast<std::uint32_t>(found.classes++) : found.class_of[first];
    }
    compact();
    for (const auto& [one, other] : squares_) {
      if (one != other) found.crossing.emplace_back(found.class_of[one], found.class_of[other]);
    }
    return found;
  }

  const SwitchLinks& links_;
  const Topology& topology_;
  DisjointSets sets_;
  std::vector<LinkIndex> from_a_;  ///< by switch the link from the first neighbour of a pair
  std::vector<bool> beside_;       ///< by switch: a neighbour of the corner
  std::vector<std::pair<LinkIndex, LinkIndex>> squares_;  ///< two sides of each
};

}  // namespace

SwitchLinks::SwitchLinks(const Topology& topology) : topology_(&topology), base_(topology.switches() + 1) {
  for (SwitchIndex s = 0; s < topology.switches(); ++s) base_[s + 1] = base_[s] + topology.groups(s);
  of_.resize(base_.back());
  std::vector<std::size_t> next(topology.switches());  // by switch the first group that has no link yet
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    for (std::size_t g = next[s]; g < topology.groups(s); ++g) {
      const auto peer = topology.group(s, g).peer;
      const auto link = static_cast<LinkIndex>(ends_.size());
      ends_.emplace_back(s, peer);
      of_[base_[s] + g] = link;
      of_[base_[peer] + next[peer]++] = link;  // groups are ascending on both sides
    }
  }
}

ParallelLinks find_parallel_links(const SwitchLinks& links) { return SquareSearch(links).run(); }

}  // namespace smd::routing::inline engines
