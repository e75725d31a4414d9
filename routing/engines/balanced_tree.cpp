// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/balanced_tree.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace smd::routing {
namespace {

/// Whether all ways up from a switch are alike in their rates, step by step: what comes down by them comes by
/// the same rates then, too.
bool alike_upwards(const Topology& topology, const Order& order) {
  if (topology.one_rate()) return true;
  using Way = std::pair<std::uint32_t, std::uint32_t>;  // rate of the cable, ways of the switch above
  std::map<Way, std::uint32_t> numbers;
  std::vector<std::uint32_t> ways(topology.switches());  // 0: nothing above
  std::vector<SwitchIndex> from_top(topology.switches());
  for (SwitchIndex s = 0; s < from_top.size(); ++s) from_top[order.position[s]] = s;
  for (const auto s : from_top) {
    std::optional<Way> only;
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto group = topology.group(s, g);
      if (!order.up(s, group.peer)) continue;
      for (const auto port : group.ports) {
        const Way way{topology.rate(s, port), ways[group.peer]};
        if (only && *only != way) return false;
        only = way;
      }
    }
    const auto next = static_cast<std::uint32_t>(numbers.size() + 1);
    if (only) ways[s] = numbers.try_emplace(*only, next).first->second;
  }
  return true;
}

}  // namespace

bool even(const Topology& topology, const Order& order, const Shape& shape) {
  const auto has = [&](SwitchIndex s, const UpSlot& slot) {
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      if (topology.group(s, g).peer == slot.peer) return topology.group(s, g).ports.size() >= slot.cables;
    }
    return false;
  };
  if (!alike_upwards(topology, order)) return false;
  std::map<std::int32_t, std::size_t> width;
  return std::ranges::all_of(shape.families, [&](const Family& family) {
    const auto rank = order.rank[family.members.front()];
    return family.gone.empty() && width.try_emplace(rank, family.width()).first->second == family.width() &&
           std::ranges::all_of(family.members, [&](SwitchIndex s) {
             return std::ranges::all_of(family.slots, [&](const UpSlot& slot) { return has(s, slot); });
           });
  });
}

}  // namespace smd::routing
