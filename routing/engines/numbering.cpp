// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/numbering.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace smd::routing {
namespace {

constexpr std::size_t kKinds = 4;
/// Beyond the LID space a divider says nothing more.
constexpr std::uint64_t kMaxDivider = 0x10000;

/// Moves `set` to `out`: the first, then the others from near to far, each distance ordered the same way.
void by_nearness(std::vector<SwitchIndex> set, const HopCount& hops, std::vector<SwitchIndex>& out) {
  while (!set.empty()) {
    const auto first = set.front();
    out.push_back(first);
    std::vector<std::vector<SwitchIndex>> at;
    for (const auto leaf : std::span(set).subspan(1)) {
      const std::size_t distance = hops(first, leaf);
      if (at.size() <= distance) at.resize(distance + 1);
      at[distance].push_back(leaf);
    }
    for (std::size_t i = 0; i + 1 < at.size(); ++i) by_nearness(std::move(at[i]), hops, out);
    set = at.empty() ? std::vector<SwitchIndex>{} : std::move(at.back());
  }
}

struct Numbered {
  std::uint32_t number = 0;
  SwitchIndex destination = kNoSwitch;
  bool of_switch = false;
};

/// By LID; those that lead to no switch have none.
std::vector<Numbered> numbers(const Topology& topology, const LidMap& lids,
                              std::span<const SwitchIndex> leaf_order) {
  std::vector<SwitchIndex> order(leaf_order.begin(), leaf_order.end());
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    if (!topology.leaf(s)) order.push_back(s);
  }
  std::array<std::uint32_t, kKinds> next{};
  std::vector<std::uint32_t> of_end(topology.end_ports().size());
  std::vector<std::uint32_t> of_switch(topology.switches());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    of_switch[order[i]] = i;
    auto e = topology.first_end(order[i]);
    for (const auto& end : topology.end_ports_of(order[i])) {
      of_end[e++] = next[static_cast<std::size_t>(end.kind) % kKinds]++;
    }
  }
  std::vector<Numbered> result(std::size_t{lids.top().value()} + 1);
  for (std::size_t lid = 0; lid < result.size(); ++lid) {
    const auto to = lids.destination(Lid{static_cast<std::uint16_t>(lid)});
    if (to.sw == kNoSwitch) continue;
    const bool own = to.end == kNoEnd;
    result[lid] = {(own ? of_switch[to.sw] : of_end[to.end]) + to.offset, to.sw, own};
  }
  return result;
}

}  // namespace

std::vector<SwitchIndex> leaves_by_nearness(const Topology& topology, const HopCount& hops) {
  std::vector<SwitchIndex> out;
  by_nearness({topology.leaves().begin(), topology.leaves().end()}, hops, out);
  return out;
}

std::vector<Run> number_lids(const Topology& topology, const LidMap& lids,
                             std::span<const SwitchIndex> leaf_order) {
  const auto all = numbers(topology, lids, leaf_order);
  std::vector<Run> runs;
  for (std::size_t lid = 1; lid < all.size(); ++lid) {
    const auto& entry = all[lid];
    if (entry.destination == kNoSwitch) continue;
    bool follows = false;
    if (!runs.empty()) {
      auto& last = runs.back();
      follows = last.lid + last.length == lid && last.number + last.length == entry.number &&
                last.of_switch == entry.of_switch;
      if (follows && last.destination == entry.destination) {
        ++last.length;
        continue;
      }
    }
    runs.push_back(
        {static_cast<std::uint16_t>(lid), 1, entry.number, entry.destination, follows, entry.of_switch});
  }
  return runs;
}

std::vector<std::uint32_t> dividers(const Topology& topology, const Order& order) {
  std::vector<std::uint32_t> divider(topology.switches(), 1);
  if (!order.tree) return divider;
  std::vector<SwitchIndex> upwards(topology.switches());
  std::iota(upwards.begin(), upwards.end(), SwitchIndex{0});
  std::ranges::sort(upwards, std::ranges::greater{}, [&](SwitchIndex s) { return order.position[s]; });
  for (const auto s : upwards) {
    std::uint64_t ways = 0;
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      ways += order.rank[topology.group(s, g).peer] < order.rank[s] ? 1 : 0;
    }
    const auto above = static_cast<std::uint32_t>(std::min(divider[s] * ways, kMaxDivider));
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto peer = topology.group(s, g).peer;
      if (order.rank[peer] < order.rank[s]) divider[peer] = std::max(divider[peer], above);
    }
  }
  return divider;
}

}  // namespace smd::routing
