// SPDX-License-Identifier: Apache-2.0
#pragma once
// Path lengths from every switch to every destination switch, by shortest paths or by up/down paths.

#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "routing/parallel.h"
#include "routing/ranking/switch_ranking.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline ranking {

/// A cell holds the length of the path from the switch of the row to the destination of the column, and
/// whether its first hop goes up. With a ranking: a path that only goes down if there is any (an LFT does not
/// know the input port, and a packet that came from above must go on down), else up to the neighbour with the
/// shortest remaining path. So each pair with a legal path has one. Without a ranking: shortest paths, all
/// counted as down.
template <std::unsigned_integral Cost>
class Costs {
 public:
  static constexpr Cost kUnreachable = std::numeric_limits<Cost>::max();
  /// A value that no cell ever holds.
  static constexpr Cost kNever = kUnreachable - 1;
  static constexpr Cost kGoesUp = static_cast<Cost>(kUnreachable ^ (kUnreachable >> 1));
  static constexpr Cost kLength = static_cast<Cost>(~kGoesUp);
  static constexpr Cost kLongest = static_cast<Cost>(kLength - 2);

  /// Column i is destinations[i]. `ranking` null: shortest paths. Searches run on `parallel`.
  Costs(const Topology& topology, const SwitchRanking* ranking, std::span<const SwitchIndex> destinations,
        const Parallel& parallel);

  /// The same costs, with the rows of the switches in `order`. The columns stay.
  Costs reordered(std::span<const SwitchIndex> order) const;

  /// False if a path is longer than kLongest: the costs are of no use then.
  bool complete() const { return complete_; }
  std::size_t columns() const { return columns_; }
  /// The cells of a switch, by column.
  std::span<const Cost> row(SwitchIndex s) const { return std::span(cells_).subspan(s * columns_, columns_); }
  /// Hops of the path, of a cell that is not kUnreachable.
  static constexpr unsigned length(Cost cost) { return static_cast<unsigned>(cost & kLength); }

 private:
  Costs(std::size_t columns, bool complete) : columns_(columns), complete_(complete) {}
  std::size_t columns_;
  std::vector<Cost> cells_;
  bool complete_ = true;
};

using WideCosts = Costs<std::uint16_t>;  ///< paths of up to 32,765 hops

extern template class Costs<std::uint8_t>;
extern template class Costs<std::uint16_t>;

}  // namespace smd::routing::inline ranking
