// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/packets/reach.h"

#include <algorithm>

#include "mad/sim/packets/walk.h"

namespace smd::sim {

Reach reach(const State& state, std::size_t most_failures) {
  std::vector<PortIndex> ends;
  for (PortIndex port = 0; port < state.ports.size(); ++port) {
    if (!state.node_of(port).is_switch() && state.ports[port].link_up()) ends.push_back(port);
  }
  return reach(state, ends, most_failures);
}

Reach reach(const State& state, std::span<const PortIndex> ends, std::size_t most_failures) {
  Reach result;
  for (const auto from : ends) {
    for (const auto to : ends) {
      if (from == to) continue;
      ++result.pairs;
      const auto way = walk(state, from, state.ports[to].info.lid);
      if (way.delivered() && way.end == to) {
        ++result.delivered;
      } else if (result.failures.size() < most_failures) {
        result.failures.push_back(to_string(state, way));
      }
    }
  }
  return result;
}

std::vector<PortIndex> joined_to(const State& state, PortIndex from) {
  std::vector<bool> switch_seen(state.nodes.size());
  std::vector<PortIndex> found, waiting;
  const auto arrive = [&](PortIndex port) {
    const auto node = state.ports[port].node;
    if (!state.nodes[node].is_switch()) return found.push_back(port);
    if (switch_seen[node]) return;
    switch_seen[node] = true;
    waiting.push_back(port);
  };
  arrive(from);
  if (!state.node_of(from).is_switch() && state.ports[from].link_up()) arrive(state.ports[from].peer);
  while (!waiting.empty()) {
    const auto& node = state.node_of(waiting.back());
    waiting.pop_back();
    for (unsigned number = 1; number <= node.ports; ++number) {
      const auto& port = state.ports[state.index(node, number)];
      if (port.link_up()) arrive(port.peer);
    }
  }
  std::ranges::sort(found);
  const auto [again, end] = std::ranges::unique(found);
  found.erase(again, end);
  return found;
}

}  // namespace smd::sim
