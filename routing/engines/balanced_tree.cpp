// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/balanced_tree.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace smd::routing::inline engines {
namespace {

/// Whether all uplinks of each switch lead over the same sequence of rates: then paths down through them do
/// too.
bool alike_upwards(const Topology& topology, const SwitchRanking& ranking) {
  if (topology.one_rate()) return true;
  using Uplink = std::pair<std::uint32_t, std::uint32_t>;  // rate of the cable, class of the upper switch
  std::map<Uplink, std::uint32_t> numbers;
  std::vector<std::uint32_t> uplink_classes(topology.switches());  // by switch; 0: no switch above
  std::vector<SwitchIndex> from_top(topology.switches());
  for (SwitchIndex s = 0; s < from_top.size(); ++s) from_top[ranking.position[s]] = s;
  for (const auto s : from_top) {
    std::optional<Uplink> only;
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto group = topology.group(s, g);
      if (!ranking.up(s, group.peer)) continue;
      for (const auto port : group.ports) {
        const Uplink uplink{topology.rate(s, port), uplink_classes[group.peer]};
        if (only && *only != uplink) return false;
        only = uplink;
      }
    }
    const auto next = static_cast<std::uint32_t>(numbers.size() + 1);
    if (only) uplink_classes[s] = numbers.try_emplace(*only, next).first->second;
  }
  return true;
}

}  // namespace

bool is_whole(const Topology& topology, const TreeTemplate& tree_template) {
  const auto has = [&](SwitchIndex s, const UplinkSlot& slot) {
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      if (topology.group(s, g).peer == slot.peer) return topology.group(s, g).ports.size() >= slot.cables;
    }
    return false;
  };
  return std::ranges::all_of(tree_template.groups, [&](const SwitchGroup& group) {
    return group.gone.empty() && std::ranges::all_of(group.members, [&](SwitchIndex s) {
             return std::ranges::all_of(group.slots, [&](const UplinkSlot& slot) { return has(s, slot); });
           });
  });
}

bool is_dealt_out(const Topology& topology, const SwitchRanking& ranking, const TreeTemplate& tree_template) {
  const auto uplinks = [&](SwitchIndex s) {
    std::size_t cables = 0;
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto group = topology.group(s, g);
      if (ranking.up(s, group.peer)) cables += group.ports.size();
    }
    return cables;
  };
  return std::ranges::all_of(tree_template.groups, [&](const SwitchGroup& group) {
    const auto all = uplinks(group.members.front());
    return std::ranges::all_of(group.members, [&](SwitchIndex s) { return uplinks(s) == all; });
  });
}

bool is_regular(const Topology& topology, const SwitchRanking& ranking, const TreeTemplate& tree_template) {
  if (!alike_upwards(topology, ranking)) return false;
  std::map<std::int32_t, std::size_t> width;
  return std::ranges::all_of(tree_template.groups, [&](const SwitchGroup& group) {
    const auto rank = ranking.rank[group.members.front()];
    return width.try_emplace(rank, group.width()).first->second == group.width();
  });
}

}  // namespace smd::routing::inline engines
