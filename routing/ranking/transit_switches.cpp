// SPDX-License-Identifier: Apache-2.0
#include "routing/ranking/transit_switches.h"

#include <algorithm>

#include "routing/ranking/costs.h"
#include "routing/ranking/leaf_radius.h"

namespace smd::routing::inline ranking {
namespace {

/// A leaf is one hop farther from the other leaves than its neighbours are; a switch that is farther by less
/// than this may be no leaf.
constexpr double kLeafIsFarther = 0.6;
/// At most so many of the nearest leaves are examined.
constexpr std::size_t kNearest = 16;

std::vector<SwitchIndex> suspects(const Topology& topology, std::span<const SwitchIndex> leaves,
                                  std::span<const double> mean) {
  std::vector<SwitchIndex> found;
  for (const auto s : leaves) {
    double sum = 0;
    const auto groups = static_cast<double>(topology.groups(s));
    for (std::size_t g = 0; g < topology.groups(s); ++g) sum += mean[topology.group(s, g).peer];
    if (groups >= 2 && mean[s] * groups < sum + kLeafIsFarther * groups) found.push_back(s);
  }
  return found;
}

class Betweenness {
 public:
  Betweenness(const Topology& topology, std::span<const SwitchIndex> leaves)
      : topology_(topology), chosen_(sample_of(leaves)), costs_(topology, nullptr, chosen_, Serial{}) {}

  bool holds(SwitchIndex s) const {
    const auto row = costs_.row(s);
    const auto near_ones = nearest(s);
    if (!through_two_neighbours(s, near_ones)) return false;
    double sum = 0, hosts = 0;
    for (const auto near : sample_of(near_ones, kNearest)) {
      const auto weight = static_cast<double>(topology_.hosts(chosen_[near]));
      sum += weight * share(row, near);
      hosts += weight;
    }
    return sum * 4 >= hosts && hosts > 0;
  }

 private:
  using Row = std::span<const std::uint16_t>;

  static bool other(const Row& row, std::size_t i) {
    return row[i] != 0 && row[i] != WideCosts::kUnreachable;
  }

  /// As indexes into chosen_.
  std::vector<SwitchIndex> nearest(SwitchIndex s) const {
    const auto row = costs_.row(s);
    auto least = WideCosts::kUnreachable;
    std::vector<SwitchIndex> found;
    for (SwitchIndex i = 0; i < row.size(); ++i) {
      if (!other(row, i) || row[i] > least) continue;
      if (row[i] < least) found.clear();
      least = row[i];
      found.push_back(i);
    }
    return found;
  }

  /// Whether some of them are behind one neighbour and some behind another, as for a switch between them.
  bool through_two_neighbours(SwitchIndex s, std::span<const SwitchIndex> near_ones) const {
    const auto row = costs_.row(s);
    unsigned neighbours = 0;
    for (std::size_t g = 0; g < topology_.groups(s) && neighbours < 2; ++g) {
      const auto beyond = costs_.row(topology_.group(s, g).peer);
      neighbours +=
          std::ranges::any_of(near_ones, [&](auto i) { return beyond[i] + 1U == row[i]; }) ? 1U : 0U;
    }
    return neighbours >= 2;
  }

  /// The share of the other hosts to which a shortest path from chosen_[near] leads through the switch of the
  /// row.
  double share(const Row& row, std::size_t near) const {
    const auto from = costs_.row(chosen_[near]);
    std::uint64_t all = 0, through = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i == near || !other(row, i)) continue;
      const auto hosts = topology_.hosts(chosen_[i]);
      all += hosts;
      if (unsigned{row[near]} + row[i] == from[i]) through += hosts;
    }
    return all == 0 ? 0 : static_cast<double>(through) / static_cast<double>(all);
  }

  const Topology& topology_;
  std::vector<SwitchIndex> chosen_;
  WideCosts costs_;
};

/// Whether the switch is cabled like some leaf: a leaf between others because of damage still is; an inner
/// switch is not.
bool like_some(const Topology& topology, SwitchIndex s, const std::vector<bool>& leaves) {
  std::vector<SwitchIndex> siblings;
  for (std::size_t g = 0; g < topology.groups(s); ++g) {
    const auto peer = topology.group(s, g).peer;
    for (std::size_t h = 0; h < topology.groups(peer); ++h) {
      const auto other = topology.group(peer, h).peer;
      if (leaves[other]) siblings.push_back(other);
    }
  }
  std::ranges::sort(siblings);
  for (auto at = siblings.begin(); at != siblings.end();) {
    const auto end = std::upper_bound(at, siblings.end(), *at);
    if (static_cast<std::size_t>(end - at) * 2 > topology.groups(s)) return true;
    at = end;
  }
  return false;
}

std::uint64_t all_hosts_of(const Topology& topology, std::span<const SwitchIndex> leaves) {
  std::uint64_t all = 0;
  for (const auto leaf : leaves) all += topology.hosts(leaf);
  return all;
}

}  // namespace

std::vector<SwitchIndex> transit_switches(const Topology& topology, std::span<const SwitchIndex> leaves,
                                          std::span<const double> mean) {
  auto found = suspects(topology, leaves, mean);
  if (found.empty()) return found;
  const Betweenness between(topology, leaves);
  std::erase_if(found, [&](SwitchIndex s) { return !between.holds(s); });
  std::vector<bool> rest(topology.switches());
  for (const auto leaf : leaves) rest[leaf] = true;
  for (const auto s : found) rest[s] = false;
  std::erase_if(found, [&](SwitchIndex s) { return like_some(topology, s, rest); });
  if (all_hosts_of(topology, found) * 2 >= all_hosts_of(topology, leaves)) found.clear();
  return found;
}

std::uint64_t connected_host_pairs(const Topology& topology, const SwitchRanking& ranking,
                                   std::span<const SwitchIndex> leaves) {
  const auto chosen = sample_of(leaves);
  const WideCosts costs(topology, &ranking, chosen, Serial{});
  std::uint64_t joined = 0;
  for (const auto s : chosen) {
    const auto row = costs.row(s);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (row[i] != WideCosts::kUnreachable)
        joined += std::uint64_t{topology.hosts(s)} * topology.hosts(chosen[i]);
    }
  }
  return joined;
}

}  // namespace smd::routing::inline ranking
