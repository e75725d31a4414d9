// SPDX-License-Identifier: Apache-2.0
#pragma once
// Strongly connected components of a directed graph (Tarjan, 1972, without recursion).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace smd::routing::inline verify {

/// `next(node, fn)` calls fn for each successor of `node`. Components are sorted by their first node, nodes
/// within them too. Single nodes are components as well.
template <class Next>
std::vector<std::vector<std::size_t>> strongly_connected_components(std::size_t nodes, const Next& next) {
  struct Visit {
    std::size_t node;
    std::vector<std::size_t> to;
    std::size_t at = 0;
  };
  constexpr auto kNew = ~std::size_t{0};
  std::vector<std::size_t> number(nodes, kNew), low(nodes);
  std::vector<bool> open(nodes);
  std::vector<std::size_t> stack;
  std::vector<Visit> visits;
  std::vector<std::vector<std::size_t>> groups;
  std::size_t count = 0;

  const auto enter = [&](std::size_t node) {
    number[node] = low[node] = count++;
    stack.push_back(node);
    open[node] = true;
    visits.push_back({node, {}, 0});
    next(node, [&](std::size_t to) { visits.back().to.push_back(to); });
  };
  const auto leave = [&](std::size_t node) {
    visits.pop_back();
    if (!visits.empty()) low[visits.back().node] = std::min(low[visits.back().node], low[node]);
    if (low[node] != number[node]) return;
    std::vector<std::size_t> group;
    do {
      group.push_back(stack.back());
      open[stack.back()] = false;
      stack.pop_back();
    } while (group.back() != node);
    std::ranges::sort(group);
    groups.push_back(std::move(group));
  };
  for (std::size_t root = 0; root < nodes; ++root) {
    if (number[root] != kNew) continue;
    enter(root);
    while (!visits.empty()) {
      auto& visit = visits.back();
      const auto node = visit.node;
      if (visit.at == visit.to.size()) {
        leave(node);
        continue;
      }
      const auto to = visit.to[visit.at++];
      if (number[to] == kNew) {
        enter(to);
      } else if (open[to]) {
        low[node] = std::min(low[node], number[to]);
      }
    }
  }
  std::ranges::sort(groups);
  return groups;
}

/// By node the number of its component.
template <class Next>
std::vector<std::size_t> scc_numbers(std::size_t nodes, const Next& next) {
  std::vector<std::size_t> number(nodes);
  const auto groups = strongly_connected_components(nodes, next);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (const auto node : groups[i]) number[node] = i;
  }
  return number;
}

}  // namespace smd::routing::inline verify
