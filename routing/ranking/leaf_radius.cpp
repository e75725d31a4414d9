// SPDX-License-Identifier: Apache-2.0
#include "routing/ranking/leaf_radius.h"

#include <algorithm>

#include "routing/ranking/costs.h"

namespace smd::routing::inline ranking {
namespace {

/// A switch is above a neighbour if its square_distance() is at most so much of the neighbour's: a spine has
/// a third of that of a leaf, a core of a tree of two pods 0.87 of that of the switches below.
constexpr double kClearlyNearer = 0.9;

std::vector<std::int32_t> radius_of(const Topology& topology, const WideCosts& costs) {
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

/// The mean square of the distances to the hosts of the other leaves. Squares tell a core switch from those
/// below it in a tree of two pods, too, where the mean distances are equal.
double square_distance(const Topology& topology, std::span<const SwitchIndex> leaves, const WideCosts& costs,
                       SwitchIndex s) {
  double sum = 0, hosts = 0;
  const auto row = costs.row(s);
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] == WideCosts::kUnreachable || row[i] == 0) continue;
    const auto here = static_cast<double>(topology.hosts(leaves[i]));
    sum += here * row[i] * row[i];
    hosts += here;
  }
  return hosts > 0 ? sum / hosts : 0;
}

/// By component the switches with the smallest radius.
std::vector<SwitchIndex> least_of(const Topology& topology, std::span<const std::int32_t> radius) {
  std::vector<std::int32_t> least(topology.components(), kUnranked);
  for (SwitchIndex s = 0; s < radius.size(); ++s) {
    auto& best = least[topology.component(s)];
    best = std::min(best, radius[s]);
  }
  std::vector<SwitchIndex> found;
  for (SwitchIndex s = 0; s < radius.size(); ++s) {
    if (radius[s] != kUnranked && radius[s] == least[topology.component(s)]) found.push_back(s);
  }
  return found;
}

}  // namespace

std::vector<SwitchIndex> sample_of(std::span<const SwitchIndex> all, std::size_t count) {
  std::vector<SwitchIndex> chosen;
  const std::size_t n = std::min(all.size(), count);
  chosen.reserve(n);
  for (std::size_t i = 0; i < n; ++i) chosen.push_back(all[i * all.size() / n]);
  return chosen;
}

std::vector<std::int32_t> leaf_radius(const Topology& topology, std::span<const SwitchIndex> leaves) {
  return radius_of(topology, WideCosts(topology, nullptr, sample_of(leaves), Serial{}));
}

std::vector<SwitchIndex> with_least_radius(const Topology& topology, std::span<const SwitchIndex> leaves) {
  return least_of(topology, leaf_radius(topology, leaves));
}

// Small switches below a tenth of the leaves make the radius of the top as large as that of the leaves that
// have such switches, or of the switches above these. The cables between two roots would point up or down by
// GUID.
std::vector<SwitchIndex> nearest_to_leaves(const Topology& topology, std::span<const SwitchIndex> leaves) {
  const auto chosen = sample_of(leaves);
  const WideCosts costs(topology, nullptr, chosen, Serial{});
  auto found = least_of(topology, radius_of(topology, costs));
  std::vector<double> square(topology.switches());  // 0: not one of those with the least radius
  for (const auto s : found) square[s] = square_distance(topology, chosen, costs, s);
  std::erase_if(found, [&](SwitchIndex s) {
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto other = square[topology.group(s, g).peer];
      if (other > 0 && other <= kClearlyNearer * square[s]) return true;
    }
    return false;
  });
  return found;
}

}  // namespace smd::routing::inline ranking
