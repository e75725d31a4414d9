// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which VL of a channel waits for which: what credit loops are made of where a hop's VL is not the layer.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace smd::routing::inline verify {

/// A VL of a channel is the number kVlsOfChannel * channel + VL.
inline constexpr std::size_t kVlsOfChannel = 16;

/// Edges as pairs of such numbers, kept once each. Memory: 8 bytes an edge, twice that while some are added.
class VlGraph {
 public:
  /// `from` waits for `to`. Amortised O(log edges).
  void add(std::uint32_t from, std::uint32_t to);
  /// Adds all edges of `other`.
  void merge(const VlGraph& other);

  /// Groups that wait for each other: of at least two numbers below `nodes`, or of one that waits for itself.
  std::vector<std::vector<std::size_t>> cycles(std::size_t nodes);

 private:
  void tidy();

  static constexpr std::size_t kFirstLimit = 1U << 20U;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
  std::size_t limit_ = kFirstLimit;
};

}  // namespace smd::routing::inline verify
