// SPDX-License-Identifier: Apache-2.0
#include "routing/ranking/leaf_detection.h"

#include <array>
#include <cstdint>
#include <tuple>

#include "routing/ranking/levels.h"

namespace smd::routing::inline ranking {
namespace {

using Sides = std::vector<std::uint8_t>;

/// 2-colours the switches: each gets another side than the switch it was reached from.
Sides alternate(const Topology& topology) {
  constexpr std::uint8_t kNeither = 2;
  Sides side(topology.switches(), kNeither);
  std::vector<SwitchIndex> front;
  for (SwitchIndex first = 0; first < side.size(); ++first) {
    if (side[first] != kNeither) continue;
    side[first] = 0;
    front.assign(1, first);
    for (std::size_t at = 0; at < front.size(); ++at) {
      for (std::size_t g = 0; g < topology.groups(front[at]); ++g) {
        const auto peer = topology.group(front[at], g).peer;
        if (side[peer] != kNeither) continue;
        side[peer] = side[front[at]] ^ 1U;
        front.push_back(peer);
      }
    }
  }
  return side;
}

/// Misplaced cables may give a switch the wrong side: the majority of its cables decides.
void follow_majority_side(const Topology& topology, Sides& side) {
  constexpr int kRounds = 8;
  for (int round = 0; round < kRounds; ++round) {
    bool moved = false;
    for (SwitchIndex s = 0; s < side.size(); ++s) {
      std::size_t same = 0, all = 0;
      for (std::size_t g = 0; g < topology.groups(s); ++g) {
        const auto group = topology.group(s, g);
        all += group.ports.size();
        same += side[group.peer] == side[s] ? group.ports.size() : 0;
      }
      if (same * 2 <= all) continue;
      side[s] ^= 1U;
      moved = true;
    }
    if (!moved) return;
  }
}

struct Weight {
  std::uint64_t hosts = 0, leaves = 0, cables = 0;
  bool outweighs(const Weight& other) const {
    return std::tuple(hosts, leaves, other.cables) > std::tuple(other.hosts, other.leaves, cables);
  }
};

std::vector<SwitchIndex> leaves_of_one_side(const Topology& topology, std::span<const SwitchIndex> leaves) {
  auto side = alternate(topology);
  follow_majority_side(topology, side);
  std::vector<std::array<Weight, 2>> weights(topology.components());
  for (const auto leaf : leaves) {
    auto& weight = weights[topology.component(leaf)][side[leaf]];
    weight.hosts += topology.hosts(leaf);
    ++weight.leaves;
    for (std::size_t g = 0; g < topology.groups(leaf); ++g)
      weight.cables += topology.group(leaf, g).ports.size();
  }
  std::vector<SwitchIndex> chosen;
  for (const auto leaf : leaves) {
    const auto& weight = weights[topology.component(leaf)];
    if (side[leaf] == (weight[1].outweighs(weight[0]) ? 1 : 0)) chosen.push_back(leaf);
  }
  return chosen;
}

bool farther_than_neighbours(const Topology& topology, SwitchIndex s, std::span<const double> mean) {
  double sum = 0;
  for (std::size_t g = 0; g < topology.groups(s); ++g) sum += mean[topology.group(s, g).peer];
  return mean[s] * static_cast<double>(topology.groups(s)) >= sum;
}

}  // namespace

std::vector<SwitchIndex> detect_leaves(const Topology& topology, std::span<const SwitchIndex> leaves) {
  auto chosen = leaves_of_one_side(topology, leaves);
  const auto mean = mean_distances(topology, chosen);
  std::erase_if(chosen, [&](SwitchIndex s) { return !farther_than_neighbours(topology, s, mean); });
  return chosen;
}

}  // namespace smd::routing::inline ranking
