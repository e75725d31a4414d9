// SPDX-License-Identifier: Apache-2.0
#include "routing/ranking/leaf_radius.h"

#include <algorithm>

#include "routing/ranking/costs.h"

namespace smd::routing::inline ranking {

std::vector<SwitchIndex> sample_of(std::span<const SwitchIndex> all, std::size_t count) {
  std::vector<SwitchIndex> chosen;
  const std::size_t n = std::min(all.size(), count);
  chosen.reserve(n);
  for (std::size_t i = 0; i < n; ++i) chosen.push_back(all[i * all.size() / n]);
  return chosen;
}

std::vector<std::int32_t> leaf_radius(const Topology& topology, std::span<const SwitchIndex> leaves) {
  const auto chosen = sample_of(leaves);
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

}  // namespace smd::routing::inline ranking
