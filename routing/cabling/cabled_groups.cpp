// SPDX-License-Identifier: Apache-2.0
#include "routing/cabling/cabled_groups.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "routing/ranking/disjoint_sets.h"

namespace smd::routing::inline cabling {
namespace {

using SetOf = std::vector<std::uint32_t>;  ///< by switch: the number of its set

/// Smaller ones are not told apart: a misplaced cable costs its ends all neighbours in common.
constexpr std::uint32_t kFewestAlike = 4, kFewestOfTwoLevels = 2;
/// A switch goes where others have gone before it.
constexpr unsigned kPasses = 2;

/// Calls fn(neighbour, number of neighbours that both have). `beside` is false everywhere before and after.
template <class Fn>
void for_each_neighbour(const Topology& topology, SwitchIndex s, std::vector<bool>& beside, const Fn& fn) {
  for (std::size_t g = 0; g < topology.groups(s); ++g) beside[topology.group(s, g).peer] = true;
  for (std::size_t g = 0; g < topology.groups(s); ++g) {
    const auto peer = topology.group(s, g).peer;
    std::uint32_t shared = 0;
    for (std::size_t h = 0; h < topology.groups(peer); ++h)
      shared += beside[topology.group(peer, h).peer] ? 1U : 0U;
    fn(peer, shared);
  }
  for (std::size_t g = 0; g < topology.groups(s); ++g) beside[topology.group(s, g).peer] = false;
}

/// A misplaced cable may have put its ends into the set of the other one or, in small groups, into none: they
/// go where they have most neighbours, of equally many to a smaller set.
void move_strays(const Topology& topology, SetOf& sets) {
  std::vector<std::size_t> size(sets.size());
  for (const auto set : sets) ++size[set];
  for (SwitchIndex s = 0; s < sets.size(); ++s) {
    const auto own = sets[s];
    std::map<std::uint32_t, std::size_t> neighbours{{own, 0}};
    for (std::size_t g = 0; g < topology.groups(s); ++g) ++neighbours[sets[topology.group(s, g).peer]];
    const auto [best, votes] = *std::ranges::max_element(neighbours, {}, [&](const auto& entry) {
      return std::pair(entry.second, sets.size() - size[entry.first]);
    });
    if (best == own || (votes == neighbours[own] && size[best] + 1 >= size[own])) continue;
    --size[own];
    ++size[best];
    sets[s] = best;
  }
}

/// Neighbours are in one set if they have more than half as many neighbours in common as either of them has
/// with any.
SetOf sets_of_neighbours(const Topology& topology) {
  const auto n = static_cast<SwitchIndex>(topology.switches());
  std::vector<std::uint32_t> most(n);
  std::vector<bool> beside(n);
  for (SwitchIndex s = 0; s < n; ++s) {
    for_each_neighbour(topology, s, beside, [&](SwitchIndex /*peer*/, std::uint32_t shared) {
      most[s] = std::max(most[s], shared);
    });
  }
  DisjointSets sets(n);
  for (SwitchIndex s = 0; s < n; ++s) {
    for_each_neighbour(topology, s, beside, [&](SwitchIndex peer, std::uint32_t shared) {
      if (2 * shared > std::max(most[s], most[peer])) sets.join(s, peer);
    });
  }
  SetOf result(n);
  for (SwitchIndex s = 0; s < n; ++s) result[s] = sets.first(s);
  for (unsigned i = 0; i < kPasses; ++i) move_strays(topology, result);
  return result;
}

/// The set with the most votes, of equal ones the first.
std::optional<std::uint32_t> most_voted(const std::map<std::uint32_t, std::size_t>& votes) {
  const auto best = std::ranges::max_element(votes, {}, [](const auto& entry) { return entry.second; });
  return best == votes.end() ? std::nullopt : std::optional(best->first);
}

/// Leaves are in one set if they have more than half of their spines in common.
SetOf sets_of_leaves(const Topology& topology) {
  DisjointSets sets(topology.switches());
  std::vector<std::uint32_t> spines(topology.switches()), shared(topology.switches());
  for (const auto leaf : topology.leaves()) {
    for (std::size_t g = 0; g < topology.groups(leaf); ++g)
      spines[leaf] += topology.leaf(topology.group(leaf, g).peer) ? 0U : 1U;
  }
  for (const auto leaf : topology.leaves()) {
    std::vector<SwitchIndex> others;
    for (std::size_t g = 0; g < topology.groups(leaf); ++g) {
      const auto spine = topology.group(leaf, g).peer;
      for (std::size_t h = 0; !topology.leaf(spine) && h < topology.groups(spine); ++h) {
        const auto other = topology.group(spine, h).peer;
        if (topology.leaf(other) && shared[other]++ == 0) others.push_back(other);
      }
    }
    for (const auto other : others) {
      if (2 * shared[other] > std::max(spines[leaf], spines[other])) sets.join(leaf, other);
      shared[other] = 0;
    }
  }
  SetOf result(topology.switches());
  for (SwitchIndex s = 0; s < topology.switches(); ++s) result[s] = sets.first(s);
  return result;
}

/// A misplaced cable has left a leaf with two spines half of them: alone, it goes where it has most spines in
/// common, of equally many to a smaller set. Returns those that have moved.
std::vector<SwitchIndex> move_lone_leaves(const Topology& topology, SetOf& sets) {
  std::vector<std::size_t> size(sets.size());
  for (const auto leaf : topology.leaves()) ++size[sets[leaf]];
  std::vector<SwitchIndex> moved;
  for (const auto leaf : topology.leaves()) {
    if (size[sets[leaf]] != 1) continue;
    std::map<std::uint32_t, std::size_t> spines;  // by set: in common
    for (std::size_t g = 0; g < topology.groups(leaf); ++g) {
      const auto spine = topology.group(leaf, g).peer;
      std::map<std::uint32_t, std::size_t> below;
      for (std::size_t h = 0; !topology.leaf(spine) && h < topology.groups(spine); ++h) {
        const auto other = topology.group(spine, h).peer;
        if (topology.leaf(other) && size[sets[other]] > 1) ++below[sets[other]];
      }
      if (const auto most = most_voted(below)) ++spines[*most];
    }
    if (spines.empty()) continue;
    const auto best = std::ranges::max_element(spines, {}, [&](const auto& entry) {
                        return std::pair(entry.second, sets.size() - size[entry.first]);
                      })->first;
    --size[sets[leaf]];
    ++size[best];
    sets[leaf] = best;
    moved.push_back(leaf);
  }
  return moved;
}

/// Each spine is where most of its leaves are. Empty if one has none.
SetOf with_spines(const Topology& topology, SetOf sets) {
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    if (topology.leaf(s)) continue;
    std::map<std::uint32_t, std::size_t> below;
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto peer = topology.group(s, g).peer;
      if (topology.leaf(peer)) ++below[sets[peer]];
    }
    const auto most = most_voted(below);
    if (!most) return {};
    sets[s] = *most;
  }
  return sets;
}

/// Two leaves that have moved may each be in the place of the other one.
std::vector<SetOf> sets_of_leaves_and_spines(const Topology& topology) {
  auto leaves = sets_of_leaves(topology);
  const auto moved = move_lone_leaves(topology, leaves);
  std::vector<SetOf> all{with_spines(topology, leaves)};
  if (moved.size() == 2 && leaves[moved[0]] != leaves[moved[1]]) {
    std::swap(leaves[moved[0]], leaves[moved[1]]);
    all.push_back(with_spines(topology, std::move(leaves)));
  }
  return all;
}

CabledGroups numbered_from_0(const SetOf& sets) {
  CabledGroups groups;
  std::map<std::uint32_t, std::uint32_t> number;
  for (SwitchIndex s = 0; s < sets.size(); ++s) {
    const auto fresh = static_cast<std::uint32_t>(number.size());
    const auto group = number.try_emplace(sets[s], fresh).first->second;
    groups.of.push_back(group);
    groups.members.resize(number.size());
    groups.members[group].push_back(s);
  }
  return groups;
}

/// Whether these may be the groups of a fabric of `switches` switches.
bool are_groups(const CabledGroups& groups, std::size_t switches, std::uint32_t fewest_alike) {
  const auto all = groups.members.size();
  if (all < 3 || all * 2 > switches) return false;
  std::map<std::uint32_t, std::size_t> sizes;
  for (const auto& members : groups.members) ++sizes[static_cast<std::uint32_t>(members.size())];
  return most_voted(sizes).value_or(0) >= fewest_alike;
}

}  // namespace

std::vector<CabledGroups> find_cabled_groups(const Topology& topology) {
  if (topology.leaves().empty()) return {};
  const bool all_are_leaves = topology.leaves().size() == topology.switches();
  const auto all =
      all_are_leaves ? std::vector<SetOf>{sets_of_neighbours(topology)} : sets_of_leaves_and_spines(topology);
  std::vector<CabledGroups> found;
  for (const auto& sets : all) {
    auto groups = numbered_from_0(sets);
    if (are_groups(groups, topology.switches(), all_are_leaves ? kFewestAlike : kFewestOfTwoLevels))
      found.push_back(std::move(groups));
  }
  return found;
}

}  // namespace smd::routing::inline cabling
