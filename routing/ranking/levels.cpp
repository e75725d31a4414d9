// SPDX-License-Identifier: Apache-2.0
#include "routing/ranking/levels.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "routing/ranking/costs.h"
#include "routing/statistics.h"

namespace smd::routing::inline ranking {
namespace {

constexpr auto kNone = std::numeric_limits<std::int32_t>::max();
/// Distances are averaged over at most so many leaves; if there are more, over a sample.
constexpr std::size_t kSample = 512;

std::vector<std::int32_t> levels_above(const Topology& topology, std::span<const SwitchIndex> leaves) {
  std::vector<std::int32_t> level(topology.switches(), kNone);
  std::vector<SwitchIndex> front(leaves.begin(), leaves.end());
  for (const auto s : front) level[s] = 0;
  for (std::size_t at = 0; at < front.size(); ++at) {
    const auto s = front[at];
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto peer = topology.group(s, g).peer;
      if (level[peer] != kNone) continue;
      level[peer] = level[s] + 1;
      front.push_back(peer);
    }
  }
  return level;
}

/// A misplaced cable lowers the level of a switch. The level that most cables of a switch indicate counts; of
/// equal ones the higher.
void follow_majority_level(const Topology& topology, std::span<const SwitchIndex> leaves,
                           std::vector<std::int32_t>& level) {
  constexpr int kRounds = 3;
  std::vector<bool> is_leaf(topology.switches());
  for (const auto leaf : leaves) is_leaf[leaf] = true;
  std::vector<std::size_t> votes;
  for (int round = 0; round < kRounds; ++round) {
    const auto before = level;
    for (SwitchIndex s = 0; s < level.size(); ++s) {
      if (is_leaf[s] || before[s] == kNone) continue;
      votes.assign(static_cast<std::size_t>(before[s]) + 3, 0);
      for (std::size_t g = 0; g < topology.groups(s); ++g) {
        const auto group = topology.group(s, g);
        const auto near = static_cast<std::size_t>(before[group.peer]);
        for (const auto speaks_for : {near - 1, near + 1}) {
          if (speaks_for < votes.size()) votes[speaks_for] += group.ports.size();
        }
      }
      const auto now = static_cast<std::size_t>(before[s]);
      auto best = now;
      for (std::size_t l = 1; l < votes.size(); ++l) {
        if (votes[l] > votes[best] || (best != now && votes[l] == votes[best])) best = l;
      }
      level[s] = static_cast<std::int32_t>(best);
    }
    if (level == before) return;
  }
}

/// A switch one level lower is farther from the leaves by at least this on average, even if cables are
/// missing.
constexpr double kFarther = 0.6;

/// Whether a switch has few hosts, no leaf as neighbour, and is no farther from the leaves than its
/// neighbours: then it is a top switch with extra hosts. Leaves are a hop farther.
bool top_with_hosts(const Topology& topology, SwitchIndex s, std::uint32_t usual_hosts,
                    const std::vector<bool>& is_leaf, const std::vector<double>& mean) {
  constexpr double kNoFarther = 0.25;
  if (topology.groups(s) == 0 || topology.hosts(s) * 2 > usual_hosts) return false;
  for (std::size_t g = 0; g < topology.groups(s); ++g) {
    const auto peer = topology.group(s, g).peer;
    if (is_leaf[peer] || mean[s] > mean[peer] + kNoFarther) return false;
  }
  return true;
}

std::uint32_t usual_hosts(const Topology& topology, std::span<const SwitchIndex> leaves) {
  std::vector<std::uint32_t> counts;
  for (const auto leaf : leaves) counts.push_back(topology.hosts(leaf));
  return median(counts);
}

/// Leaves without inner switches that have hosts. Inner switches are above other leaves, or above all their
/// neighbours, or have few hosts and are above a third of their neighbours.
std::vector<SwitchIndex> lowest_leaves(const Topology& topology, std::span<const SwitchIndex> leaves,
                                       const std::vector<double>& mean) {
  std::vector<bool> is_leaf(topology.switches());
  for (const auto leaf : leaves) is_leaf[leaf] = true;
  const auto usual = usual_hosts(topology, leaves);
  std::vector<SwitchIndex> lowest;
  for (const auto leaf : leaves) {
    bool above_leaf = false, above_all = topology.groups(leaf) != 0;
    std::size_t below = 0;
    for (std::size_t g = 0; g < topology.groups(leaf); ++g) {
      const auto peer = topology.group(leaf, g).peer;
      const bool above = mean[peer] > mean[leaf] + kFarther;
      above_leaf = above_leaf || (above && is_leaf[peer]);
      above_all = above_all && above;
      below += above ? 1 : 0;
    }
    const bool above_many =
        topology.hosts(leaf) * 2 <= usual && below >= 2 && below * 3 >= topology.groups(leaf);
    const bool inner =
        above_leaf || above_all || above_many || top_with_hosts(topology, leaf, usual, is_leaf, mean);
    if (!inner) lowest.push_back(leaf);
  }
  return lowest;
}

/// Leaves with few or no hosts look like top switches: the switches above them are nearer to the leaves on
/// average than they are. A top switch that lost most of its cables is hardly farther than its neighbours.
void lower_empty_leaves(const Topology& topology, const std::vector<double>& mean,
                        std::vector<std::int32_t>& level) {
  const auto before = level;
  for (SwitchIndex s = 0; s < level.size(); ++s) {
    if (before[s] < 2 || before[s] == kNone) continue;
    auto lowest = kNone;
    bool top = true, farther = true;
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto peer = topology.group(s, g).peer;
      top = top && before[peer] < before[s];
      farther = farther && mean[s] > mean[peer] + kFarther;
      lowest = std::min(lowest, before[peer]);
    }
    if (top && farther) level[s] = lowest - 1;
  }
}

/// Whether 95 % of the cables join neighbouring levels, or all but one in a small fabric.
bool layered(const Topology& topology, const std::vector<std::int32_t>& level) {
  std::uint64_t all = 0, straight = 0;
  for (SwitchIndex s = 0; s < level.size(); ++s) {
    if (level[s] == kNone) continue;
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto group = topology.group(s, g);
      all += group.ports.size();
      const auto step = level[group.peer] - level[s];
      if (step == 1 || step == -1) straight += group.ports.size();
    }
  }
  constexpr std::uint64_t kFew = 16;  // cable ends
  return straight * 20 >= all * 19 || (all >= kFew && straight + 2 >= all);
}

}  // namespace

// Hosts on inner switches tell little about levels, so leaves weigh by their hosts.
std::vector<double> mean_distances(const Topology& topology, std::span<const SwitchIndex> leaves) {
  std::vector<SwitchIndex> chosen;
  const std::size_t n = std::min(leaves.size(), kSample);
  for (std::size_t i = 0; i < n; ++i) chosen.push_back(leaves[i * leaves.size() / n]);
  std::vector<std::uint64_t> hosts;
  for (const auto leaf : chosen) hosts.push_back(topology.hosts(leaf));
  const WideCosts costs(topology, nullptr, chosen, Serial{});
  std::vector<double> mean(topology.switches());
  for (SwitchIndex s = 0; s < mean.size(); ++s) {
    std::uint64_t sum = 0, count = 0;
    const auto row = costs.row(s);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row[i] == WideCosts::kUnreachable || row[i] == 0) continue;
      sum += std::uint64_t{row[i]} * hosts[i];
      count += hosts[i];
    }
    mean[s] = count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
  }
  return mean;
}

std::optional<Levels> levels_from_leaves(const Topology& topology, std::span<const SwitchIndex> leaves) {
  if (leaves.empty()) return std::nullopt;
  std::vector<SwitchIndex> lowest(leaves.begin(), leaves.end());
  std::vector<double> mean;
  for (std::size_t before = 0;
       before != lowest.size() && !lowest.empty();) {  // repeated: means are clearer without inner switches
    before = lowest.size();
    mean = mean_distances(topology, lowest);
    lowest = lowest_leaves(topology, lowest, mean);
  }
  if (lowest.empty()) return std::nullopt;
  auto level = levels_above(topology, lowest);
  follow_majority_level(topology, lowest, level);
  lower_empty_leaves(topology, mean, level);
  if (!layered(topology, level)) return std::nullopt;
  std::int32_t top = 0;
  for (const auto l : level) {
    if (l != kNone) top = std::max(top, l);
  }
  for (auto& l : level) l = l == kNone ? 0 : top - l;
  return Levels{std::move(level), std::move(mean)};
}

}  // namespace smd::routing::inline ranking
