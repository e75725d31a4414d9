// SPDX-License-Identifier: Apache-2.0
#include "routing/distance/order.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "routing/distance/costs.h"
#include "routing/distance/levels.h"
#include "routing/distance/positions.h"
#include "routing/distance/sides.h"

namespace smd::routing {
namespace {

constexpr auto kUnranked = std::numeric_limits<std::int32_t>::max();
/// Leaves that are looked at to find the top of a tree; a sample where there are more.
constexpr std::size_t kLeavesCompared = 512;

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

/// Of ten hosts so many hang on switches of a tree with nothing below or beside them: of levels that were
/// guessed, and of levels that nearly all cables agree on.
constexpr unsigned kOfTenGuessed = 9, kOfTenLayered = 5;

std::uint64_t all_hosts(const Topology& topology) {
  std::uint64_t all = 0;
  for (const auto leaf : topology.leaves()) all += topology.hosts(leaf);
  return all;
}

std::uint64_t hosts_at_bottom(const Topology& topology, const std::vector<std::int32_t>& rank,
                              std::span<const SwitchIndex> leaves) {
  std::uint64_t bottom = 0;
  for (const auto leaf : leaves) {
    if (all_neighbours_above(topology, rank, leaf)) bottom += topology.hosts(leaf);
  }
  return bottom;
}

Order finish(const Topology& topology, std::vector<std::int32_t> rank, unsigned of_ten = kOfTenGuessed) {
  Order order;
  order.position = positions_by(rank.size(), [&](SwitchIndex s) { return std::pair(rank[s], s); });
  const auto all = all_hosts(topology);
  order.tree = all != 0 && hosts_at_bottom(topology, rank, topology.leaves()) * 10 >= all * of_ten;
  order.rank = std::move(rank);
  return order;
}

/// A top switch that lost links may stand below its neighbours, with nothing under it and no hosts of its
/// own. There it is of no use to anyone; above them it is.
void lift_idle(const Topology& topology, std::span<const SwitchIndex> leaves,
               std::vector<std::int32_t>& rank) {
  std::vector<bool> is_leaf(rank.size());
  for (const auto leaf : leaves) is_leaf[leaf] = true;
  for (SwitchIndex s = 0; s < rank.size(); ++s) {
    if (is_leaf[s] || topology.groups(s) == 0 || has_lower_neighbour(topology, rank, s)) continue;
    auto highest = kUnranked;
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      highest = std::min(highest, rank[topology.group(s, g).peer]);
    }
    rank[s] = highest - 1;
  }
}

std::vector<SwitchIndex> sample(std::span<const SwitchIndex> all, std::size_t count) {
  std::vector<SwitchIndex> chosen;
  const std::size_t n = std::min(all.size(), count);
  chosen.reserve(n);
  for (std::size_t i = 0; i < n; ++i) chosen.push_back(all[i * all.size() / n]);
  return chosen;
}

/// For each switch the distance within which nine of ten leaves lie; kUnranked where none is reached.
std::vector<std::int32_t> nearly_all_within(const Topology& topology, std::span<const SwitchIndex> leaves) {
  const auto chosen = sample(leaves, kLeavesCompared);
  const WideCosts costs(topology, nullptr, chosen, Serial{});
  std::vector<std::int32_t> within(topology.switches(), kUnranked);
  std::vector<std::int32_t> distances;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    distances.clear();
    for (const auto cost : costs.row(s)) {
      if (cost != WideCosts::kUnreachable) distances.push_back(cost);
    }
    if (distances.empty()) continue;
    const auto nth = distances.begin() + static_cast<std::ptrdiff_t>((distances.size() * 9 - 1) / 10);
    std::ranges::nth_element(distances, nth);
    within[s] = *nth;
  }
  return within;
}

/// The first switch of each part of the fabric by `better(candidate, best so far)`.
template <class Better>
std::vector<SwitchIndex> best_of_each_component(const Topology& topology, const Better& better) {
  std::vector<SwitchIndex> best(topology.components(), kNoSwitch);
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    auto& champion = best[topology.component(s)];
    if (champion == kNoSwitch || better(s, champion)) champion = s;
  }
  return best;
}

}  // namespace

Order order_from_roots(const Topology& topology, std::span<const SwitchIndex> roots) {
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

Order order_from_leaves(const Topology& topology) {
  std::vector<std::int32_t> rank(topology.switches(), kUnranked);
  const auto leaves = topology.leaves();
  rank_from(topology, {leaves.begin(), leaves.end()}, rank);
  for (auto& r : rank) r = r == kUnranked ? 0 : -r;
  return finish(topology, std::move(rank));
}

std::vector<SwitchIndex> full_leaves(const Topology& topology) {
  std::vector<std::uint32_t> counts;
  for (const auto leaf : topology.leaves()) {
    counts.insert(counts.end(), topology.hosts(leaf), topology.hosts(leaf));  // each host has a vote
  }
  std::vector<SwitchIndex> full;
  if (counts.empty()) return full;
  const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2);
  std::ranges::nth_element(counts, middle);
  for (const auto leaf : topology.leaves()) {
    if (topology.hosts(leaf) * 4 >= *middle) full.push_back(leaf);
  }
  return full;
}

namespace {

std::optional<Order> tree_above(const Topology& topology, std::span<const SwitchIndex> leaves) {
  auto ranks = ranks_from_leaves(topology, leaves);
  if (!ranks) return std::nullopt;
  auto order = finish(topology, *std::move(ranks), kOfTenLayered);
  if (!order.tree) return std::nullopt;
  return order;
}

/// Leaves at different heights: the top is looked for.
Order order_below_top(const Topology& topology, std::span<const SwitchIndex> leaves) {
  const auto within = nearly_all_within(topology, leaves);
  std::vector<std::int32_t> least(topology.components(), kUnranked);
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    auto& best = least[topology.component(s)];
    best = std::min(best, within[s]);
  }
  std::vector<SwitchIndex> roots;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    if (within[s] != kUnranked && within[s] == least[topology.component(s)]) roots.push_back(s);
  }
  auto rank = order_from_roots(topology, roots).rank;
  lift_idle(topology, leaves, rank);
  return finish(topology, std::move(rank));
}

/// Whether nine of ten pairs of these have a way up and down.
bool mostly_joined(const Topology& topology, const Order& order, std::span<const SwitchIndex> leaves) {
  const auto chosen = sample(leaves, kLeavesCompared);
  const WideCosts costs(topology, &order, chosen, Serial{});
  std::size_t joined = 0;
  for (const auto s : chosen) {
    joined +=
        chosen.size() - static_cast<std::size_t>(std::ranges::count(costs.row(s), WideCosts::kUnreachable));
  }
  return joined * 10 >= chosen.size() * chosen.size() * 9;
}

}  // namespace

Order find_tree(const Topology& topology) {
  const auto leaves = full_leaves(topology);
  auto found = tree_above(topology, leaves);
  auto order = found ? *std::move(found) : order_below_top(topology, leaves);
  const auto bottom = [&](const Order& of, std::span<const SwitchIndex> among) {
    return of.tree ? hosts_at_bottom(topology, of.rank, among) : 0;
  };
  if (bottom(order, topology.leaves()) == all_hosts(topology) && order.tree) return order;
  const auto fewer =
      outstanding_leaves(topology, leaves);  // inner switches may have as many hosts as leaves have
  if (fewer.empty() || fewer.size() == leaves.size()) return order;
  auto other = tree_above(topology, fewer);
  if (!other || bottom(*other, fewer) < bottom(order, fewer)) return order;
  return mostly_joined(topology, *other, fewer) ? *std::move(other) : order;
}

Order hung_up(const Topology& topology, const Order& tree, std::span<const SwitchIndex> leaves) {
  std::vector<bool> turned(topology.switches());
  std::vector<SwitchIndex> front(leaves.begin(), leaves.end());
  for (const auto leaf : front) turned[leaf] = true;
  for (std::size_t at = 0; at < front.size(); ++at) {
    const auto s = front[at];
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto peer = topology.group(s, g).peer;
      if (!tree.up(s, peer) || turned[peer]) continue;
      turned[peer] = true;
      front.push_back(peer);
    }
  }
  Order order = tree;
  order.position = positions_by(topology.switches(), [&](SwitchIndex s) {
    const auto position = std::int64_t{tree.position[s]};
    return turned[s] ? -position - 1 : position;
  });
  return order;
}

std::vector<Order> single_root_orders(const Topology& topology) {
  std::vector<Order> orders;
  const auto leaves = full_leaves(topology);
  const auto within = nearly_all_within(topology, leaves);
  const auto add = [&](const std::vector<SwitchIndex>& roots) {
    orders.push_back(order_from_roots(topology, roots));
  };
  add(best_of_each_component(topology, [&](auto s, auto best) { return within[s] < within[best]; }));
  // A tree hung up by one of its leaves keeps all its shortest paths between leaves legal, and adds one
  // between any two top switches, through that leaf.
  for (const auto leaf : sample(leaves, 4)) {
    add(best_of_each_component(topology, [&](auto s, auto best) {
      const auto preferred = [&](SwitchIndex i) { return i == leaf ? 2 : topology.leaf(i) ? 1 : 0; };
      return preferred(s) > preferred(best);
    }));
  }
  return orders;
}

}  // namespace smd::routing
