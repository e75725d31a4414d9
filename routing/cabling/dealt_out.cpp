// SPDX-License-Identifier: Apache-2.0
#include "routing/cabling/dealt_out.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <utility>

#include "routing/cabling/free_ports.h"

namespace smd::routing::inline cabling {
namespace {

using Peers = std::vector<SwitchIndex>;

/// Smaller groups show no usual number.
constexpr std::size_t kFewestDealtTo = 4;

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

/// Ports of the switch without a link, at which more than half of the others have a cable upwards.
std::vector<PortNum> empty_uplinks(const Topology& topology, const SwitchRanking& ranking,
                                   const SwitchGroup& group, SwitchIndex s) {
  std::vector<PortNum> found;
  unsigned ports = 0;  // a file may know of a switch's ports only those in use
  for (const auto other : group.members) ports = std::max(ports, topology.ports(other));
  for (unsigned p = 1; p <= ports; ++p) {
    const PortNum port{static_cast<std::uint8_t>(p)};
    if (!is_unlinked(topology, s, port)) continue;
    const auto others = static_cast<std::size_t>(std::ranges::count_if(group.members, [&](SwitchIndex other) {
      const auto peer = topology.peer(other, port).sw;
      return peer != kNoSwitch && ranking.rank[peer] < ranking.rank[other];
    }));
    if (others * 2 > group.members.size() - 1) found.push_back(port);
  }
  return found;
}

/// Whether a fault names the switch, or a cable to it: of swapped cables one end each is named.
bool is_faulty(const Health& health, const Topology& topology, SwitchIndex s) {
  const auto is_at = [&](const PortName& port) {
    const auto named = topology.find(port.node);
    return named == s || (named != kNoSwitch && topology.peer(named, port.port).sw == s);
  };
  return std::ranges::any_of(health.findings, [&](const Finding& finding) {
    return is_fault(finding) && std::ranges::any_of(finding.ports, is_at);
  });
}

}  // namespace

std::map<SwitchIndex, Deviation> cabled_in_turns(const std::map<SwitchIndex, Deviation>& deviations,
                                                 const TreeTemplate& tree_template) {
  std::map<SwitchIndex, Deviation> result;
  for (const auto& group : tree_template.groups) {
    const auto dealing = dealing_of(group, deviations);
    if (group.members.size() < kFewestDealtTo || dealing.as_many * 4 < group.members.size() * 3) continue;
    in_turns(dealing) ? add_turns(dealing, result) : add_alike(dealing, result);
  }
  return result;
}

bool dealt_to_few(const Topology& topology, const SwitchRanking& ranking, const TreeTemplate& tree_template,
                  const std::map<SwitchIndex, Deviation>& deviations) {
  if (deviations.empty()) return false;
  const auto& members = tree_template.of(deviations.begin()->first).members;
  if (members.size() >= kFewestDealtTo || deviations.size() != members.size()) return false;
  const auto lacks_only = [&](SwitchIndex s) {
    const auto at = deviations.find(s);
    return at != deviations.end() && at->second.surplus.empty() && !topology.leaf(s);
  };
  if (!std::ranges::all_of(members, lacks_only)) return false;
  std::map<SwitchIndex, std::size_t> below;  // cables, by switch above
  std::vector<std::size_t> upwards;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    if (ranking.rank[s] != ranking.rank[members.front()]) continue;
    upwards.push_back(cables_upwards(topology, ranking, s));
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto [peer, ports] = topology.group(s, g);
      if (ranking.rank[peer] < ranking.rank[s]) below[peer] += ports.size();
    }
  }
  if (below.empty()) return false;
  const auto [fewest, most] = std::ranges::minmax(below | std::views::values);
  return std::ranges::count(upwards, upwards.front()) == std::ssize(upwards) && most - fewest <= 1;
}

std::optional<SwitchIndex> find_one_cable_short(const Topology& topology, const SwitchRanking& ranking,
                                                const SwitchGroup& group) {
  if (group.members.size() < kFewestDealtTo) return std::nullopt;
  std::map<std::size_t, Peers> by_cables;
  for (const auto s : group.members) by_cables[cables_upwards(topology, ranking, s)].push_back(s);
  if (by_cables.size() != 2) return std::nullopt;
  const auto& [fewest, few] = *by_cables.begin();
  if (few.size() != 1 || fewest + 1 != by_cables.rbegin()->first || topology.leaf(few.front()))
    return std::nullopt;
  return few.front();
}

Finding describe_one_cable_short(const HealthInput& in, const SwitchRanking& ranking,
                                 const SwitchGroup& group, SwitchIndex s) {
  const auto guid = in.topology.guid(s);
  const auto have = cables_upwards(in.topology, ranking, s);
  Finding finding{CablingFault::missing, {{guid, PortNum{}}}, {}};
  finding.text = fmt::format("{} has {} cables upwards where all others of its group have {}", in.name(guid),
                             have, have + 1);
  const auto ports = empty_uplinks(in.topology, ranking, group, s);
  for (const auto port : ports) finding.ports.push_back({guid, port});
  if (!ports.empty())
    finding.text +=
        fmt::format("; nothing is at port{} {}", ports.size() > 1 ? "s" : "", fmt::join(ports, ", "));
  return finding;
}

void check_one_cable_short(const HealthInput& in, const SwitchRanking& ranking,
                           const TreeTemplate& tree_template, Health& health) {
  for (const auto& group : tree_template.groups) {
    const auto s = find_one_cable_short(in.topology, ranking, group);
    if (!s || is_faulty(health, in.topology, *s)) continue;
    const std::vector<PortName> whole_switch{{in.topology.guid(*s), PortNum{}}};
    std::erase_if(health.findings, [&](const Finding& finding) { return finding.ports == whole_switch; });
    health.findings.push_back(describe_one_cable_short(in, ranking, group, *s));
  }
}

}  // namespace smd::routing::inline cabling
