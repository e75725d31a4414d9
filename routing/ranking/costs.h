// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far every switch is from every destination switch, by shortest paths or by up/down paths.

#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "routing/parallel.h"
#include "routing/ranking/switch_ranking.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline ranking {

/// A cell holds the length of the path that the switch must use towards the destination, and whether the
/// path begins by going up. With an order: down as soon as that is possible at all (its tables do not know
/// where a packet came from, and one that came from above must go on down), else up to the neighbour with
/// the shortest rest. So each pair that has a legal path has one here. Without an order: shortest paths, all
/// of them 'down'.
template <std::unsigned_integral Cost>
class Costs {
 public:
  static constexpr Cost kUnreachable = std::numeric_limits<Cost>::max();
  /// A cost that no cell ever holds.
  static constexpr Cost kNever = kUnreachable - 1;
  static constexpr Cost kGoesUp = static_cast<Cost>(kUnreachable ^ (kUnreachable >> 1));
  static constexpr Cost kLength = static_cast<Cost>(~kGoesUp);
  static constexpr Cost kLongest = static_cast<Cost>(kLength - 2);

  /// `order` null: shortest paths. Column i is destinations[i].
  Costs(const Topology& topology, const SwitchRanking* ranking, std::span<const SwitchIndex> destinations,
        const Parallel& parallel);

  /// False: some path is longer than kLongest, and the table is of no use.
  bool complete() const { return complete_; }
  std::size_t columns() const { return columns_; }
  std::span<const Cost> row(SwitchIndex s) const { return std::span(cells_).subspan(s * columns_, columns_); }
  static constexpr unsigned length(Cost cost) { return static_cast<unsigned>(cost & kLength); }

 private:
  std::size_t columns_;
  std::vector<Cost> cells_;
  bool complete_ = true;
};

using NarrowCosts = Costs<std::uint8_t>;  ///< paths of up to 125 hops
using WideCosts = Costs<std::uint16_t>;   ///< of up to 32,765

extern template class Costs<std::uint8_t>;
extern template class Costs<std::uint16_t>;

}  // namespace smd::routing::inline ranking
