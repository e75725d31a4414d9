// SPDX-License-Identifier: Apache-2.0
#include "routing/multicast/tree_search.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace smd::routing::inline multicast {

McSearch::McSearch(const Topology& topology, const SwitchRanking& ranking, const McLoads& loads)
    : topology_(topology), ranking_(ranking), loads_(loads), reached_(topology.switches()) {}

void McSearch::begin(std::span<const SwitchIndex> from) {
  ++search_;
  level_.assign(from.begin(), from.end());
  for (const auto s : from) reached_[s] = {.search = search_, .hops = 0, .load = 0, .by = {}};
}

/// The least loaded of parallel cables.
McStep McSearch::cable(SwitchIndex s, const NeighbourGroup& group) const {
  const auto best =
      std::ranges::min_element(group.ports, {}, [&](PortNum port) { return loads_.cable(s, port); });
  return {s, *best};
}

/// Extends the search from one switch. Within a level the less loaded path to a switch wins.
void McSearch::reach(SwitchIndex s, bool upwards) {
  for (std::size_t g = 0; g < topology_.groups(s); ++g) {
    const auto group = topology_.group(s, g);
    if (upwards && !ranking_.up(s, group.peer)) continue;
    const auto step = cable(s, group);
    auto& there = reached_[group.peer];
    const auto hops = reached_[s].hops + 1;
    const auto load = reached_[s].load + loads_.cable(s, step.port) + loads_.on(group.peer);
    if (there.search == search_ && (there.hops < hops || there.load <= load)) continue;
    if (there.search != search_) next_.push_back(group.peer);
    there = {.search = search_, .hops = hops, .load = load, .by = step};
  }
}

std::vector<McStep> McSearch::way(std::span<const SwitchIndex> from, bool upwards, const Goal& goal) {
  begin(from);
  auto end = kNoSwitch;
  while (end == kNoSwitch && !level_.empty()) {
    next_.clear();
    for (const auto s : level_) reach(s, upwards);
    for (const auto s : next_) {
      const bool better =
          end == kNoSwitch || std::tuple(reached_[s].load, s) < std::tuple(reached_[end].load, end);
      if (better && goal(s)) end = s;
    }
    std::swap(level_, next_);
  }
  std::vector<McStep> steps;
  while (end != kNoSwitch && reached_[end].hops != 0) {
    steps.push_back(reached_[end].by);
    end = reached_[end].by.from;
  }
  return steps;
}

std::optional<SwitchIndex> McSearch::above(std::span<const SwitchIndex> all) {
  std::vector<std::uint32_t> below(topology_.switches());
  std::vector<std::uint64_t> hops(topology_.switches());
  for (const auto& one : all) {
    begin(std::span(&one, 1));
    for (std::uint32_t far = 0; !level_.empty(); ++far) {
      next_.clear();
      for (const auto s : level_) {
        ++below[s];
        hops[s] += far;
        reach(s, true);
      }
      std::swap(level_, next_);
    }
  }
  std::optional<SwitchIndex> best;
  const auto rank = [&](SwitchIndex s) { return std::tuple(hops[s], loads_.on(s), s); };
  for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
    if (below[s] == all.size() && (!best || rank(s) < rank(*best))) best = s;
  }
  return best;
}

}  // namespace smd::routing::inline multicast
