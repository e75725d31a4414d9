// SPDX-License-Identifier: Apache-2.0
#pragma once
// Turns sort keys into positions.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace smd::routing::inline ranking {

/// For each of `n` indexes its position when they are sorted by key(index). Keys must differ.
template <class Key>
std::vector<std::uint32_t> positions_by(std::size_t n, Key key) {
  std::vector<std::uint32_t> sorted(n), position(n);
  std::iota(sorted.begin(), sorted.end(), std::uint32_t{0});
  std::ranges::sort(sorted, {}, key);
  for (std::uint32_t i = 0; i < n; ++i) position[sorted[i]] = i;
  return position;
}

}  // namespace smd::routing::inline ranking
