// SPDX-License-Identifier: Apache-2.0
#include "routing/topology/spanning_trees.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace smd::routing::inline topology {
namespace {

constexpr std::size_t kMostMeasured = 64;  ///< switches of which the distance to the farthest one is computed

/// Plus 1.
std::uint32_t distance_to_farthest(const Topology& topology, SwitchIndex root,
                                   std::vector<std::uint32_t>& far) {
  far.assign(topology.switches(), 0);
  std::vector<SwitchIndex> queue{root};
  far[root] = 1;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    for (std::size_t g = 0; g < topology.groups(queue[at]); ++g) {
      const auto peer = topology.group(queue[at], g).peer;
      if (far[peer] != 0) continue;
      far[peer] = far[queue[at]] + 1;
      queue.push_back(peer);
    }
  }
  return far[queue.back()];
}

void grow_from(const Topology& topology, SwitchIndex root, std::vector<bool>& in_tree, SpanningTrees& trees) {
  trees.roots.push_back(root);
  std::vector<SwitchIndex> reached{root};
  in_tree[root] = true;
  for (std::size_t at = 0; at < reached.size(); ++at) {
    const auto s = reached[at];
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto group = topology.group(s, g);
      if (in_tree[group.peer]) continue;
      in_tree[group.peer] = true;
      reached.push_back(group.peer);
      const auto far = topology.peer(s, group.ports.front());
      trees.ports[s].push_back(group.ports.front());
      trees.ports[far.sw].push_back(far.port);
    }
  }
}

}  // namespace

std::vector<std::vector<SwitchIndex>> switches_by_component(const Topology& topology) {
  std::vector<std::vector<SwitchIndex>> components(topology.components());
  for (SwitchIndex s = 0; s < topology.switches(); ++s) components[topology.component(s)].push_back(s);
  return components;
}

std::vector<SwitchIndex> by_eccentricity(const Topology& topology, const std::vector<SwitchIndex>& all) {
  std::vector<std::pair<std::uint32_t, SwitchIndex>> measured;
  std::vector<std::uint32_t> far;
  const auto step = std::max<std::size_t>(1, all.size() / kMostMeasured);
  for (std::size_t i = 0; i < all.size(); i += step)
    measured.emplace_back(distance_to_farthest(topology, all[i], far), all[i]);
  std::ranges::sort(measured);
  std::vector<SwitchIndex> found;
  for (const auto& [distance, s] : measured) found.push_back(s);
  return found;
}

SpanningTrees middle_trees(const Topology& topology) {
  SpanningTrees trees{.ports = std::vector<std::vector<PortNum>>(topology.switches()), .roots = {}};
  std::vector<bool> in_tree(topology.switches());
  for (const auto& all : switches_by_component(topology))
    grow_from(topology, by_eccentricity(topology, all).front(), in_tree, trees);
  return trees;
}

}  // namespace smd::routing::inline topology
