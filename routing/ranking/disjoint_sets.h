// SPDX-License-Identifier: Apache-2.0
#pragma once
// Union-find.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace smd::routing::inline ranking {

/// Disjoint sets of the numbers below `n`, each identified by its smallest member.
class DisjointSets {
 public:
  /// `n` sets of one number each.
  explicit DisjointSets(std::size_t n) : parent_(n) {
    std::iota(parent_.begin(), parent_.end(), std::uint32_t{0});
  }
  /// The smallest member of the set that has `i`, which is below `n`.
  std::uint32_t first(std::uint32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  /// Makes one set of those that have `a` and `b`.
  void join(std::uint32_t a, std::uint32_t b) {
    a = first(a);
    b = first(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

}  // namespace smd::routing::inline ranking
