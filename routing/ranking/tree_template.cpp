// SPDX-License-Identifier: Apache-2.0
#include "routing/ranking/tree_template.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "routing/ranking/disjoint_sets.h"

namespace smd::routing::inline ranking {
namespace {

bool above(const SwitchRanking& ranking, SwitchIndex s, SwitchIndex peer) {
  return ranking.rank[peer] < ranking.rank[s];
}

/// Cables to one switch above.
struct Cables {
  SwitchIndex peer = 0;
  std::size_t count = 0;
  friend auto operator<=>(const Cables&, const Cables&) = default;
};

/// Sets of switches with identical cables upwards.
struct Alike {
  std::vector<std::vector<Cables>> above;          ///< by set: the cables of its switches upwards, ascending
  std::vector<std::vector<SwitchIndex>> switches;  ///< by set: its switches
};

std::size_t total(std::span<const Cables> above) {
  std::size_t all = 0;
  for (const auto& cables : above) all += cables.count;
  return all;
}

Alike group_by_above(const Topology& topology, const SwitchRanking& ranking) {
  Alike alike;
  std::map<std::pair<std::int32_t, std::vector<Cables>>, std::size_t> known;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    std::vector<Cables> up;
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto group = topology.group(s, g);
      if (above(ranking, s, group.peer)) up.push_back({group.peer, group.ports.size()});
    }
    // Switches without uplinks form a group per rank.
    auto key = std::pair(ranking.rank[s], up);
    const auto [at, fresh] = known.try_emplace(std::move(key), alike.above.size());
    if (fresh) {
      alike.above.push_back(std::move(up));
      alike.switches.emplace_back();
    }
    alike.switches[at->second].push_back(s);
  }
  return alike;
}

/// Joins sets of one rank that share more than half of the upper switches of the smaller one, unless they
/// share only half of its cables: two switches with swapped cables have something of both groups.
void join_similar(const Topology& topology, const SwitchRanking& ranking, const Alike& alike,
                  DisjointSets& sets) {
  struct Below {
    std::uint32_t set;
    std::size_t cables;
  };
  struct Shared {
    std::size_t peers = 0, cables = 0;
  };
  std::vector<std::vector<Below>> below(topology.switches());  // sets by upper switch
  for (std::uint32_t i = 0; i < alike.above.size(); ++i) {
    for (const auto& [upper, cables] : alike.above[i]) below[upper].push_back({i, cables});
  }
  std::vector<Shared> shared(alike.above.size());
  std::vector<std::uint32_t> touched;
  for (std::uint32_t i = 0; i < alike.above.size(); ++i) {
    touched.clear();
    for (const auto& [upper, own] : alike.above[i]) {
      for (const auto& [other, cables] : below[upper]) {
        if (other <= i) continue;
        if (shared[other].peers++ == 0) touched.push_back(other);
        shared[other].cables += std::min(own, cables);
      }
    }
    for (const auto other : touched) {
      const auto smaller = std::min(alike.above[i].size(), alike.above[other].size());
      const auto cables = std::min(total(alike.above[i]), total(alike.above[other]));
      const auto [peers, both] = std::exchange(shared[other], {});
      const bool same_rank =
          ranking.rank[alike.switches[i].front()] == ranking.rank[alike.switches[other].front()];
      if (same_rank && peers * 2 > smaller && (peers == smaller || both * 2 > cables)) sets.join(i, other);
    }
  }
}

/// In a group of two, a cable that only one has is either missing at the other or extra.
enum class Doubt : std::uint8_t { missing, extra };

/// The most frequent number; of equally frequent ones the largest (missing) or the smallest (extra).
std::uint32_t usual(std::vector<std::uint32_t>& numbers, Doubt doubt) {
  std::ranges::sort(numbers);
  std::uint32_t best = 1;
  std::size_t most = 0;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i;
    while (end < numbers.size() && numbers[end] == numbers[i]) ++end;
    if (end - i > most || (end - i == most && doubt == Doubt::missing)) best = numbers[i];
    most = std::max(most, end - i);
    i = end;
  }
  return best;
}

std::vector<UplinkSlot> find_slots(const Topology& topology, const SwitchRanking& ranking,
                                   const SwitchGroup& group, Doubt doubt) {
  std::map<SwitchIndex, std::vector<std::uint32_t>> cables;
  for (const auto s : group.members) {
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto neighbour = topology.group(s, g);
      if (!above(ranking, s, neighbour.peer)) continue;
      cables[neighbour.peer].push_back(static_cast<std::uint32_t>(neighbour.ports.size()));
    }
  }
  std::vector<UplinkSlot> slots;
  for (auto& [peer, counts] : cables) {
    const auto twice = counts.size() * 2 + (doubt == Doubt::missing ? 1 : 0);
    if (twice > group.members.size()) slots.push_back({peer, usual(counts, doubt)});
  }
  return slots;
}

std::size_t cables_of(std::span<const UplinkSlot> slots) {
  std::size_t cables = 0;
  for (const auto& slot : slots) cables += slot.cables;
  return cables;
}

/// Assumes missing cables, except where the group would then have more than most switches of its rank.
void find_all_slots(const Topology& topology, const SwitchRanking& ranking,
                    std::vector<SwitchGroup>& groups) {
  // By rank: number of switches by number of cables.
  std::map<std::int32_t, std::map<std::size_t, std::size_t>> wanting;
  for (auto& group : groups) {
    group.slots = find_slots(topology, ranking, group, Doubt::missing);
    wanting[ranking.rank[group.members.front()]][cables_of(group.slots)] += group.members.size();
  }
  for (auto& group : groups) {
    const auto& numbers = wanting[ranking.rank[group.members.front()]];
    const auto usual = std::ranges::max_element(numbers, {}, [](const auto& entry) { return entry.second; });
    if (cables_of(group.slots) <= usual->first) continue;
    auto slots = find_slots(topology, ranking, group, Doubt::extra);
    if (cables_of(slots) >= usual->first) group.slots = std::move(slots);
  }
}

/// Finds upper switches that are gone altogether by comparison with the other groups of the rank, if these
/// agree. A missing slot is placed where the others have a switch of the same group, else at the end. A group
/// with less than half of the usual width was built that way.
class MissingUplinks {
 public:
  MissingUplinks(const SwitchRanking& ranking, TreeTemplate& tree_template)
      : ranking_(ranking), template_(tree_template) {}

  void find() {
    std::map<std::int32_t, std::vector<std::uint32_t>> ranks;
    for (std::uint32_t f = 0; f < template_.groups.size(); ++f) {
      if (!template_.groups[f].slots.empty())
        ranks[ranking_.rank[template_.groups[f].members.front()]].push_back(f);
    }
    for (const auto& [rank, groups] : ranks) compare(groups);
  }

 private:
  /// The groups of the upper switches.
  std::vector<std::uint32_t> above(const SwitchGroup& group) const {
    std::vector<std::uint32_t> upper_groups;
    for (const auto& slot : group.slots) upper_groups.push_back(template_.group_of[slot.peer]);
    return upper_groups;
  }

  void compare(std::span<const std::uint32_t> groups) {
    std::map<std::size_t, std::size_t> members;
    std::size_t all = 0;
    for (const auto f : groups) {
      members[template_.groups[f].slots.size()] += template_.groups[f].members.size();
      all += template_.groups[f].members.size();
    }
    const auto usual = std::ranges::max_element(members, {}, [](const auto& entry) { return entry.second; });
    if (usual->second * 2 <= all) return;
    const auto whole = std::ranges::find_if(
        groups, [&](auto f) { return template_.groups[f].slots.size() == usual->first; });
    const auto model = above(template_.groups[*whole]);
    for (const auto f : groups) {
      auto& group = template_.groups[f];
      const auto have = group.slots.size();
      if (have < usual->first && have * 2 >= usual->first) fill(model, group);
    }
  }

  void fill(const std::vector<std::uint32_t>& model, SwitchGroup& group) const {
    const auto own = above(group);
    std::size_t at = 0;
    for (const auto upper : model) {
      if (at < own.size() && own[at] == upper) {
        ++at;
      } else {
        group.gone.push_back(static_cast<std::uint32_t>(at));
      }
    }
    if (at == own.size() && own.size() + group.gone.size() == model.size()) return;
    group.gone.assign(model.size() - own.size(), static_cast<std::uint32_t>(own.size()));
  }

  const SwitchRanking& ranking_;
  TreeTemplate& template_;
};

}  // namespace

std::size_t SwitchGroup::place(std::size_t slot) const {
  return slot + static_cast<std::size_t>(std::ranges::upper_bound(gone, slot) - gone.begin());
}

TreeTemplate find_tree_template(const Topology& topology, const SwitchRanking& ranking) {
  const auto alike = group_by_above(topology, ranking);
  DisjointSets sets(alike.above.size());
  join_similar(topology, ranking, alike, sets);
  std::vector<std::uint32_t> set_of(topology.switches());
  for (std::uint32_t i = 0; i < alike.switches.size(); ++i) {
    for (const auto s : alike.switches[i]) set_of[s] = sets.first(i);
  }
  TreeTemplate tree_template;
  tree_template.group_of.resize(topology.switches());
  tree_template.place.resize(topology.switches());
  constexpr auto kNoGroup = ~std::uint32_t{0};
  std::vector<std::uint32_t> number(alike.above.size(), kNoGroup);
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    auto& group = number[set_of[s]];
    if (group == kNoGroup) {
      group = static_cast<std::uint32_t>(tree_template.groups.size());
      tree_template.groups.emplace_back();
    }
    auto& members = tree_template.groups[group].members;
    tree_template.group_of[s] = group;
    tree_template.place[s] = static_cast<std::uint32_t>(members.size());
    members.push_back(s);
  }
  find_all_slots(topology, ranking, tree_template.groups);
  MissingUplinks(ranking, tree_template).find();
  return tree_template;
}

}  // namespace smd::routing::inline ranking
