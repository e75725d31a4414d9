// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/round_robin_levels.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace smd::routing::inline engines {
namespace {

/// Of all levels: switches of one rank that leaves come to on their way up.
struct Row {
  std::vector<SwitchIndex> of_leaf;   ///< one by leaf
  std::vector<std::uint32_t> blocks;  ///< RoundRobinLevel::blocks
};

/// Of the undamaged tree.
std::uint32_t uplinks(const SwitchGroup& group) {
  const auto gone = static_cast<std::uint32_t>(group.gone.size());
  return std::accumulate(group.slots.begin(), group.slots.end(),
                         group.slots.empty() ? 0 : gone * group.slots.front().cables,
                         [](std::uint32_t sum, const UplinkSlot& slot) { return sum + slot.cables; });
}

/// Nothing where the switches differ, or have no uplinks.
std::optional<RoundRobinLevel> level_of(const Row& row, const TreeTemplate& tree_template,
                                        std::span<const DmodkIndex> indices) {
  const auto first = row.of_leaf.front();
  RoundRobinLevel level{.unit = indices[first].divider, .period = 0, .blocks = row.blocks};
  const auto count = uplinks(tree_template.of(first));
  level.period = level.unit * count;
  const bool alike = std::ranges::all_of(row.of_leaf, [&](SwitchIndex s) {
    return indices[s].divider == level.unit && uplinks(tree_template.of(s)) == count;
  });
  if (!alike || count < 2 || level.unit == 0) return std::nullopt;
  return level;
}

/// The switches above; nothing where some leaf has none.
bool climb(Row& row, const TreeTemplate& tree_template) {
  std::vector<std::uint32_t> groups;
  for (auto& s : row.of_leaf) {
    const auto& group = tree_template.of(s);
    if (group.slots.empty()) return false;
    groups.push_back(tree_template.group_of[s]);
    s = group.slots.front().peer;
  }
  row.blocks.clear();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i == 0 || groups[i] != groups[i - 1]) row.blocks.push_back(0);
    ++row.blocks.back();
  }
  return true;
}

}  // namespace

std::vector<RoundRobinLevel> round_robin_levels(const TreeTemplate& tree_template,
                                                const SwitchRanking& ranking,
                                                std::span<const DmodkIndex> indices,
                                                std::span<const SwitchIndex> leaves) {
  std::vector<RoundRobinLevel> levels;
  const auto rank = [&](SwitchIndex s) { return ranking.rank[s]; };
  const bool level_ground =
      std::ranges::all_of(leaves, [&](SwitchIndex s) { return rank(s) == rank(leaves.front()); });
  if (leaves.empty() || !level_ground) return levels;
  Row row{.of_leaf = {leaves.begin(), leaves.end()}, .blocks = std::vector<std::uint32_t>(leaves.size(), 1)};
  do {
    auto level = level_of(row, tree_template, indices);
    if (!level) break;
    levels.push_back(*std::move(level));
  } while (climb(row, tree_template));
  return levels;
}

}  // namespace smd::routing::inline engines
