// SPDX-License-Identifier: Apache-2.0
#include "routing/ranking/switch_ranking.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "routing/ranking/costs.h"
#include "routing/ranking/leaf_detection.h"
#include "routing/ranking/leaf_radius.h"
#include "routing/ranking/levels.h"
#include "routing/ranking/positions.h"
#include "routing/ranking/transit_switches.h"
#include "routing/statistics.h"

namespace smd::routing::inline ranking {
namespace {

void rank_from(const Topology& topology, std::vector<SwitchIndex> front, std::vector<std::int32_t>& rank) {
  for (const auto root : front) rank[root] = 0;
  for (std::size_t at = 0; at < front.size(); ++at) {
    const auto s = front[at];
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto peer = topology.group(s, g).peer;
      if (rank[peer] != kUnranked) continue;
      rank[peer] = rank[s] + 1;
      front.push_back(peer);
    }
  }
}

bool has_lower_neighbour(const Topology& topology, const std::vector<std::int32_t>& rank, SwitchIndex s) {
  for (std::size_t g = 0; g < topology.groups(s); ++g) {
    if (rank[topology.group(s, g).peer] > rank[s]) return true;
  }
  return false;
}

bool all_neighbours_above(const Topology& topology, const std::vector<std::int32_t>& rank, SwitchIndex s) {
  for (std::size_t g = 0; g < topology.groups(s); ++g) {
    if (rank[topology.group(s, g).peer] >= rank[s]) return false;
  }
  return true;
}

/// In a tree at least so many of ten hosts are on switches with all neighbours above: for guessed levels, and
/// for levels that nearly all cables confirm.
constexpr unsigned kOfTenGuessed = 9, kOfTenLayered = 5;

std::uint64_t hosts_of(const Topology& topology, std::span<const SwitchIndex> leaves) {
  std::uint64_t all = 0;
  for (const auto leaf : leaves) all += topology.hosts(leaf);
  return all;
}

std::uint64_t all_hosts(const Topology& topology) { return hosts_of(topology, topology.leaves()); }

std::uint64_t hosts_at_bottom(const Topology& topology, const std::vector<std::int32_t>& rank,
                              std::span<const SwitchIndex> leaves) {
  std::uint64_t bottom = 0;
  for (const auto leaf : leaves) {
    if (all_neighbours_above(topology, rank, leaf)) bottom += topology.hosts(leaf);
  }
  return bottom;
}

SwitchRanking finish(const Topology& topology, std::vector<std::int32_t> rank,
                     unsigned of_ten = kOfTenGuessed) {
  SwitchRanking ranking;
  ranking.position = positions_by(rank.size(), [&](SwitchIndex s) { return std::pair(rank[s], s); });
  const auto all = all_hosts(topology);
  ranking.tree = all != 0 && hosts_at_bottom(topology, rank, topology.leaves()) * 10 >= all * of_ten;
  ranking.rank = std::move(rank);
  return ranking;
}

/// A top switch that lost links may rank below its neighbours, with no switch below it and no hosts. No path
/// can use it there, but paths can if it ranks above them. With hosts and one neighbour it is a small switch
/// below that one.
void raise_idle(const Topology& topology, std::span<const SwitchIndex> leaves,
                std::vector<std::int32_t>& rank) {
  std::vector<bool> is_leaf(rank.size());
  for (const auto leaf : leaves) is_leaf[leaf] = true;
  for (SwitchIndex s = 0; s < rank.size(); ++s) {
    const bool small = topology.groups(s) == 1 && topology.hosts(s) != 0;
    if (is_leaf[s] || small || topology.groups(s) == 0 || has_lower_neighbour(topology, rank, s)) continue;
    auto highest = kUnranked;
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      highest = std::min(highest, rank[topology.group(s, g).peer]);
    }
    rank[s] = highest - 1;
  }
}

}  // namespace

SwitchRanking rank_from_roots(const Topology& topology, std::span<const SwitchIndex> roots) {
  std::vector<bool> rooted(topology.components());
  for (const auto root : roots) rooted[topology.component(root)] = true;
  std::vector<SwitchIndex> front(roots.begin(), roots.end());
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    if (rooted[topology.component(s)]) continue;
    rooted[topology.component(s)] = true;
    front.push_back(s);
  }
  std::vector<std::int32_t> rank(topology.switches(), kUnranked);
  rank_from(topology, std::move(front), rank);
  return finish(topology, std::move(rank));
}

SwitchRanking rank_from_leaves(const Topology& topology) {
  std::vector<std::int32_t> rank(topology.switches(), kUnranked);
  const auto leaves = topology.leaves();
  rank_from(topology, {leaves.begin(), leaves.end()}, rank);
  for (auto& r : rank) r = r == kUnranked ? 0 : -r;
  return finish(topology, std::move(rank));
}

std::vector<SwitchIndex> full_leaves(const Topology& topology) {
  std::vector<std::uint32_t> counts;
  for (const auto leaf : topology.leaves()) {
    counts.insert(counts.end(), topology.hosts(leaf), topology.hosts(leaf));  // one vote per host
  }
  std::vector<SwitchIndex> full;
  if (counts.empty()) return full;
  const auto usual = median(counts);
  for (const auto leaf : topology.leaves()) {
    if (topology.hosts(leaf) * 4 >= usual) full.push_back(leaf);
  }
  return full;
}

namespace {

struct Guess {
  SwitchRanking ranking;
  std::vector<double> mean;  ///< mean_distances() to the leaves; empty: not computed
};

std::optional<Guess> tree_above(const Topology& topology, std::span<const SwitchIndex> leaves) {
  auto levels = levels_from_leaves(topology, leaves);
  if (!levels) return std::nullopt;
  auto ranking = finish(topology, std::move(levels->rank), kOfTenLayered);
  if (!ranking.tree) return std::nullopt;
  return Guess{std::move(ranking), std::move(levels->mean)};
}

/// Whether each leaf has an up/down path to all leaves that it is connected with, and `of_others` says so of
/// the number of leaves that another switch has one to (and so from), and of those that it is connected with.
template <class OfOthers>
bool joined(const Topology& topology, const SwitchRanking& ranking, OfOthers of_others) {
  const auto leaves = topology.leaves();
  const WideCosts costs(topology, &ranking, leaves, Serial{});
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    const auto row = costs.row(s);
    std::size_t reached = 0, all = 0;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      if (topology.component(s) != topology.component(leaves[i])) continue;
      ++all;
      reached += row[i] != WideCosts::kUnreachable ? 1U : 0U;
    }
    if (topology.leaf(s) ? reached != all : !of_others(reached, all)) return false;
  }
  return true;
}

/// Whether 90 % of the connected pairs of these leaves have an up/down path.
bool mostly_joined(const Topology& topology, const SwitchRanking& ranking,
                   std::span<const SwitchIndex> leaves) {
  const auto chosen = sample_of(leaves);
  const WideCosts costs(topology, &ranking, chosen, Serial{});
  std::size_t joined = 0, all = 0;
  for (const auto s : chosen) {
    const auto row = costs.row(s);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (topology.component(s) != topology.component(chosen[i])) continue;
      ++all;
      joined += row[i] != WideCosts::kUnreachable ? 1U : 0U;
    }
  }
  return joined * 10 >= all * 9;
}

SwitchRanking rank_below(const Topology& topology, std::span<const SwitchIndex> roots,
                         std::span<const SwitchIndex> leaves, unsigned of_ten) {
  auto rank = rank_from_roots(topology, roots).rank;
  raise_idle(topology, leaves, rank);
  return finish(topology, std::move(rank), of_ten);
}

/// For leaves at different heights: finds the top first.
SwitchRanking rank_below_top(const Topology& topology, std::span<const SwitchIndex> leaves,
                             unsigned of_ten = kOfTenGuessed) {
  const auto roots = with_least_radius(topology, leaves);
  auto ranking = rank_below(topology, roots, leaves, of_ten);
  if (hosts_at_bottom(topology, ranking.rank, leaves) == hosts_of(topology, leaves)) return ranking;
  const auto nearest = nearest_to_leaves(topology, leaves);
  if (nearest == roots) return ranking;
  // With switches below leaves, those below the top may have its radius. Where some leaves are cabled to
  // cores, the switches below the cores may be nearest: they join no pods, or only by cores that were raised.
  auto nearer = rank_below(topology, nearest, leaves, of_ten);
  const bool raised = std::ranges::any_of(nearer.rank, [](auto rank) { return rank < 0; });
  return !raised && mostly_joined(topology, nearer, leaves) ? nearer : ranking;
}

Guess first_guess(const Topology& topology, std::span<const SwitchIndex> leaves) {
  auto found = tree_above(topology, leaves);
  auto guess = found ? *std::move(found) : Guess{rank_below_top(topology, leaves), {}};
  const auto& ranking = guess.ranking;
  const auto bottom = [&](const SwitchRanking& of, std::span<const SwitchIndex> among) {
    return of.tree ? hosts_at_bottom(topology, of.rank, among) : 0;
  };
  if (bottom(ranking, topology.leaves()) == all_hosts(topology) && ranking.tree) return guess;
  const auto fewer = detect_leaves(topology, leaves);  // inner switches may have as many hosts as leaves
  if (fewer.empty() || fewer.size() == leaves.size()) return guess;
  auto other = tree_above(topology, fewer);
  if (!other || bottom(other->ranking, fewer) < bottom(ranking, fewer)) return guess;
  return mostly_joined(topology, other->ranking, fewer) ? *std::move(other) : guess;
}

SwitchRanking find_levels(const Topology& topology) {
  const auto full = full_leaves(topology);
  auto [ranking, mean] = first_guess(topology, full);
  if (!ranking.tree) return ranking;
  // If leaves have as few hosts as inner switches, some inner switches may have got the rank of the leaves.
  std::vector<SwitchIndex> lowest;
  for (const auto leaf : full) {
    if (all_neighbours_above(topology, ranking.rank, leaf)) lowest.push_back(leaf);
  }
  if (mean.empty()) mean = mean_distances(topology, lowest);
  const auto inner = transit_switches(topology, lowest, mean);
  if (inner.empty()) return ranking;
  auto leaves = lowest;
  std::erase_if(leaves, [&](SwitchIndex s) { return std::ranges::binary_search(inner, s); });
  auto other = tree_above(topology, leaves);
  if (!other) return ranking;
  const bool better = connected_host_pairs(topology, other->ranking, lowest) >=
                      connected_host_pairs(topology, ranking, lowest);
  return better ? std::move(other->ranking) : ranking;
}

}  // namespace

// Switches with hosts below leaves look like leaves, and those leaves like inner switches. From the top
// downwards they are told apart.
SwitchRanking find_tree(const Topology& topology) {
  auto ranking = find_levels(topology);
  const auto leaves = topology.leaves();
  if (leaves.empty() || hosts_at_bottom(topology, ranking.rank, leaves) == all_hosts(topology) ||
      (ranking.tree && joined(topology, ranking, [](auto, auto) { return true; })))
    return ranking;
  auto other = rank_below_top(topology, full_leaves(topology), kOfTenLayered);
  if (!other.tree) return ranking;
  // A switch without hosts is asked by its LID: a part of the tree that none reaches downwards is not worth
  // balance. One that has lost a cable downwards has no such path to some leaves in any tree.
  return joined(topology, other, [](auto reached, auto all) { return 2 * reached >= all; }) ? other : ranking;
}

std::size_t cables_upwards(const Topology& topology, const SwitchRanking& ranking, SwitchIndex s) {
  std::size_t cables = 0;
  for (std::size_t g = 0; g < topology.groups(s); ++g) {
    const auto group = topology.group(s, g);
    if (ranking.rank[group.peer] < ranking.rank[s]) cables += group.ports.size();
  }
  return cables;
}

}  // namespace smd::routing::inline ranking
