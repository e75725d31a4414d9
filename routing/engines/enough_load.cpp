// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/enough_load.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace smd::routing::inline engines {
namespace {

Weight load_at(const LoadedTree& tree, std::size_t channel) {
  return weighed(tree.loads[channel], tree.weights, channel);
}

/// The mean load of the most loaded level: no tables have less there. `of_mean`: or 125 % of the mean load
/// if that is more.
Weight find_enough(const LoadedTree& tree, bool of_mean) {
  struct Level {
    Weight sum = 0, used = 0;
  };
  std::map<std::pair<std::int32_t, bool>, Level> levels;
  Level all;
  for (SwitchIndex s = 0; s < tree.topology.switches(); ++s) {
    for (std::size_t g = 0; g < tree.topology.groups(s); ++g) {
      const auto group = tree.topology.group(s, g);
      auto& level = levels[{tree.ranking.rank[s], tree.ranking.up(s, group.peer)}];
      for (const auto port : group.ports) {
        const auto carried = load_at(tree, tree.topology.channel(s, port));
        for (auto* const one : {&level, &all}) {
          one->sum += carried;
          one->used += carried != 0 ? 1 : 0;
        }
      }
    }
  }
  Weight enough = all.used == 0 || !of_mean ? 0 : all.sum * 5 / (all.used * 4);
  for (const auto& [where, level] : levels) {
    if (level.used != 0) enough = std::max(enough, (level.sum + level.used - 1) / level.used);
  }
  return enough;
}

/// The routes from and to a leaf share its cables: the largest load that no tables can reduce.
Weight leaves_bound(const LoadedTree& tree) {
  double most = 0;
  for (const auto leaf : tree.topology.leaves()) {
    std::array<double, 2> routes{};
    double capacity = 0;
    for (std::size_t g = 0; g < tree.topology.groups(leaf); ++g) {
      for (const auto port : tree.topology.group(leaf, g).ports) {
        const auto out = tree.topology.channel(leaf, port);
        const auto far = tree.topology.peer(leaf, port);
        routes[0] += tree.loads[out];
        routes[1] += tree.loads[tree.topology.channel(far.sw, far.port)];
        capacity += 1.0 / static_cast<double>(tree.weights.empty() ? 1 : tree.weights[out]);
      }
    }
    if (capacity > 0) most = std::max(most, std::ranges::max(routes) / capacity);
  }
  return static_cast<Weight>(most) + 1;
}

}  // namespace

Weight routes_to_one_host(const LoadedTree& tree) {
  std::vector<Weight> hosts(tree.topology.components());
  for (const auto leaf : tree.topology.leaves())
    hosts[tree.topology.component(leaf)] += tree.topology.hosts(leaf);
  Weight most = 0;
  for (const auto leaf : tree.topology.leaves()) {
    auto least = std::numeric_limits<Weight>::max();
    for (std::size_t g = 0; g < tree.topology.groups(leaf); ++g) {
      for (const auto port : tree.topology.group(leaf, g).ports) {
        const auto far = tree.topology.peer(leaf, port);
        const auto down = tree.topology.channel(far.sw, far.port);
        least = std::min<Weight>(least, tree.weights.empty() ? 1 : tree.weights[down]);
      }
    }
    if (tree.topology.groups(leaf) != 0)
      most = std::max(most, least * (hosts[tree.topology.component(leaf)] - tree.topology.hosts(leaf)));
  }
  return most;
}

Weight enough_load(const LoadedTree& tree, Rebalance until) {
  if (until == Rebalance::damaged) return find_enough(tree, true);
  if (until == Rebalance::together) return std::max(find_enough(tree, true), routes_to_one_host(tree));
  const auto mean = find_enough(tree, false), bound = leaves_bound(tree);
  // Without damage round robin has few collisions in shifts, which moves would add. Where rates differ it
  // knows nothing of slow cables.
  if (until == Rebalance::round_robin && tree.weights.empty()) return std::max(mean, bound) * 4 / 3 + 1;
  return std::max({mean, bound * 11 / 10, routes_to_one_host(tree)});
}

}  // namespace smd::routing::inline engines
