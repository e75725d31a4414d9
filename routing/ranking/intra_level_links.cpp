// SPDX-License-Identifier: Apache-2.0
#include "routing/ranking/intra_level_links.h"

#include <map>

namespace smd::routing::inline ranking {
namespace {

/// Fewer cable ends than this inside a level count as misplaced cables.
constexpr std::size_t kFewEnds = 8;

struct LevelCables {
  std::size_t switches = 0, joined = 0;  ///< of the level; those with a cable inside the level
  std::size_t ends = 0, internal = 0;    ///< of all their cables; of cables inside the level
  std::pair<SwitchIndex, SwitchIndex> example;

  bool rule() const { return internal >= kFewEnds && joined * 4 >= switches * 3 && internal * 4 >= ends; }
};

}  // namespace

std::optional<std::pair<SwitchIndex, SwitchIndex>> find_intra_level_link(const Topology& topology,
                                                                         const SwitchRanking& ranking) {
  std::map<std::int32_t, LevelCables> levels;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    auto& level = levels[ranking.rank[s]];
    std::size_t own = 0;
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto group = topology.group(s, g);
      level.ends += group.ports.size();
      if (ranking.rank[group.peer] != ranking.rank[s]) continue;
      if (level.internal + own == 0) level.example = {s, group.peer};
      own += group.ports.size();
    }
    ++level.switches;
    level.joined += own != 0 ? 1U : 0U;
    level.internal += own;
  }
  for (const auto& [rank, level] : levels) {
    if (level.rule()) return level.example;
  }
  return std::nullopt;
}

}  // namespace smd::routing::inline ranking
