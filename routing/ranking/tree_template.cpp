// SPDX-License-Identifier: Apache-2.0
#include "routing/ranking/tree_template.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "routing/ranking/similar_switches.h"

namespace smd::routing::inline ranking {
namespace {

bool above(const SwitchRanking& ranking, SwitchIndex s, SwitchIndex peer) {
  return ranking.rank[peer] < ranking.rank[s];
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
      const bool fewer = have < usual->first && have * 2 >= usual->first;
      if (fewer && !share_any(template_.groups[*whole], group)) fill(model, group);
    }
  }

  /// A switch that both have above them shows that the others were left out by design.
  static bool share_any(const SwitchGroup& one, const SwitchGroup& other) {
    return std::ranges::any_of(one.slots, [&](const UplinkSlot& slot) {
      return std::ranges::binary_search(other.slots, slot.peer, {}, &UplinkSlot::peer);
    });
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

/// Compares the groups that have an upper switch in common, if their ranks are equal.
void find_shared(const SwitchRanking& ranking, std::vector<SwitchGroup>& groups, std::size_t switches) {
  std::vector<std::vector<std::uint32_t>> below(switches);  // groups by upper switch
  for (std::uint32_t f = 0; f < groups.size(); ++f) {
    for (const auto& slot : groups[f].slots) below[slot.peer].push_back(f);
  }
  for (std::uint32_t f = 0; f < groups.size(); ++f) {
    auto& group = groups[f];
    std::map<std::uint32_t, std::vector<SwitchIndex>> with;
    for (const auto& slot : group.slots) {
      for (const auto other : below[slot.peer]) {
        const bool alike = ranking.rank[groups[other].members.front()] == ranking.rank[group.members.front()];
        if (other != f && alike) with[other].push_back(slot.peer);
      }
    }
    for (auto& [other, peers] : with) {
      if (peers.size() + 1 < group.slots.size()) group.shared.push_back(std::move(peers));
    }
    std::ranges::sort(group.shared, {}, [](const auto& peers) { return std::pair(peers.size(), peers); });
  }
}

}  // namespace

std::size_t SwitchGroup::place(std::size_t slot) const {
  return slot + static_cast<std::size_t>(std::ranges::upper_bound(gone, slot) - gone.begin());
}

TreeTemplate find_tree_template(const Topology& topology, const SwitchRanking& ranking) {
  const auto set_of = similar_switches(topology, ranking);
  TreeTemplate tree_template;
  tree_template.group_of.resize(topology.switches());
  tree_template.place.resize(topology.switches());
  constexpr auto kNoGroup = ~std::uint32_t{0};
  std::vector<std::uint32_t> number(topology.switches(), kNoGroup);
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
  find_shared(ranking, tree_template.groups, topology.switches());
  return tree_template;
}

}  // namespace smd::routing::inline ranking
