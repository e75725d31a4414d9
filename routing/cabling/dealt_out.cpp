// SPDX-License-Identifier: Apache-2.0
#include "routing/cabling/dealt_out.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

namespace smd::routing::inline cabling {
namespace {

using Peers = std::vector<SwitchIndex>;

/// The group's members, with how they deviate.
struct Dealing {
  std::map<SwitchIndex, Deviation> members;
  std::int64_t usual = 0;   ///< by how many cables most members have more than the template
  std::size_t as_many = 0;  ///< members that have so many
};

std::int64_t balance(const Deviation& deviation) {
  return static_cast<std::int64_t>(deviation.surplus.size()) -
         static_cast<std::int64_t>(deviation.lacked.size());
}

Dealing dealing_of(const SwitchGroup& group, const std::map<SwitchIndex, Deviation>& deviations) {
  Dealing dealing;
  std::map<std::int64_t, std::size_t> balances;
  for (const auto s : group.members) {
    const auto at = deviations.find(s);
    const auto& deviation = dealing.members[s] = at != deviations.end() ? at->second : Deviation{};
    const auto count = ++balances[balance(deviation)];
    if (count > dealing.as_many) dealing.usual = balance(deviation), dealing.as_many = count;
  }
  return dealing;
}

/// Of the cables of a switch, those that another member has, too.
Peers found_elsewhere(const Dealing& dealing, SwitchIndex s, Peers Deviation::* cables) {
  auto own = dealing.members.at(s).*cables;
  const auto all = own;
  std::erase_if(own, [&](SwitchIndex peer) {
    return std::ranges::none_of(dealing.members, [&](const auto& other) {
      const auto& others = other.second.*cables;
      return other.first != s && std::ranges::count(others, peer) >= std::ranges::count(all, peer);
    });
  });
  return own;
}

/// The members that lack a cable to `peer`.
std::ptrdiff_t lacking(const Dealing& dealing, SwitchIndex peer) {
  return std::ranges::count_if(dealing.members, [&](const auto& member) {
    return std::ranges::count(member.second.lacked, peer) != 0;
  });
}

/// Keeps so many, those that the most members lack.
void keep_most_usual(const Dealing& dealing, Peers& lacked, std::int64_t count) {
  const auto kept = std::min(lacked.size(), static_cast<std::size_t>(std::max(count, std::int64_t{0})));
  std::ranges::sort(lacked, {}, [&](SwitchIndex peer) { return std::pair(-lacking(dealing, peer), peer); });
  lacked.resize(kept);
  std::ranges::sort(lacked);
}

/// Whether no template says what the members should have: more than half have a surplus, or all lack some.
bool in_turns(const Dealing& dealing) {
  const auto with = [&](Peers Deviation::* cables) {
    return static_cast<std::size_t>(std::ranges::count_if(
        dealing.members, [&](const auto& member) { return !(member.second.*cables).empty(); }));
  };
  const auto all = dealing.members.size();
  return with(&Deviation::surplus) * 2 > all || with(&Deviation::lacked) == all;
}

/// What the members have in turns.
void add_turns(const Dealing& dealing, std::map<SwitchIndex, Deviation>& result) {
  const bool all_alike = dealing.as_many == dealing.members.size();
  for (const auto& [s, deviation] : dealing.members) {
    const auto too_few = dealing.usual - balance(deviation);
    if (deviation == Deviation{} || too_few < 0) continue;
    Deviation design{.lacked = found_elsewhere(dealing, s, &Deviation::lacked),
                     .surplus = found_elsewhere(dealing, s, &Deviation::surplus)};
    if (all_alike && deviation.surplus.empty()) design.lacked = deviation.lacked;
    if (too_few == 0 && design != deviation) continue;
    keep_most_usual(dealing, design.lacked, std::ssize(deviation.lacked) - too_few);
    result[s] = std::move(design);
  }
}

/// A quarter of the members that have the same cables instead of the same others.
void add_alike(const Dealing& dealing, std::map<SwitchIndex, Deviation>& result) {
  std::map<Deviation, Peers> alike;
  for (const auto& [s, deviation] : dealing.members) {
    if (balance(deviation) == dealing.usual && !deviation.surplus.empty()) alike[deviation].push_back(s);
  }
  for (const auto& [deviation, switches] : alike) {
    if (switches.size() < 2 || switches.size() * 4 < dealing.members.size()) continue;
    for (const auto s : switches) result[s] = deviation;
  }
}

}  // namespace

std::map<SwitchIndex, Deviation> cabled_in_turns(const std::map<SwitchIndex, Deviation>& deviations,
                                                 const TreeTemplate& tree_template) {
  std::map<SwitchIndex, Deviation> result;
  for (const auto& group : tree_template.groups) {
    const auto dealing = dealing_of(group, deviations);
    if (group.members.size() < 4 || dealing.as_many * 4 < group.members.size() * 3) continue;
    in_turns(dealing) ? add_turns(dealing, result) : add_alike(dealing, result);
  }
  return result;
}

}  // namespace smd::routing::inline cabling
