// SPDX-License-Identifier: Apache-2.0
#pragma once
// The sets of switches that each switch reaches by up/down paths, a bit each, without lengths.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "routing/parallel.h"
#include "routing/ranking/switch_ranking.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline repair {

class Reach {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// `columns`: by switch its column as a destination, of `count`; kNone: no column.
  Reach(const Topology& topology, const SwitchRanking& ranking, std::span<const std::uint32_t> columns,
        std::size_t count, const Parallel& parallel);

  std::size_t words() const { return words_; }
  /// Columns that the switch reaches by down links only, and by any legal path.
  std::span<const std::uint64_t> down(SwitchIndex s) const { return of(down_, s); }
  /// As down(), by any legal path.
  std::span<const std::uint64_t> any(SwitchIndex s) const { return of(any_, s); }

 private:
  std::span<const std::uint64_t> of(const std::vector<std::uint64_t>& bits, SwitchIndex s) const {
    return std::span(bits).subspan(s * words_, words_);
  }

  std::size_t words_;
  std::vector<std::uint64_t> down_, any_;
};

/// Whether the bit of a column is set.
inline bool has(std::span<const std::uint64_t> bits, std::size_t column) {
  return (bits[column / 64] >> (column % 64) & 1U) != 0;
}

}  // namespace smd::routing::inline repair
