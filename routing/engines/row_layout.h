// SPDX-License-Identifier: Apache-2.0
#pragma once
// The order in which the entries of a row are computed. With LIDs at random each run is one LID long, and an
// entry costs what else a run costs: computed in the order of the numbers, each goes to its LID afterwards.

#include <cstdint>
#include <span>
#include <vector>

#include "routing/engines/destination_order.h"

namespace smd::routing::inline engines {

struct RowLayout {
  std::vector<LidRun> runs;  ///< their LIDs are places, in ascending order
  /// By LID its place; 0: it leads to no switch. Empty: places are LIDs.
  std::vector<std::uint16_t> places;

  std::uint16_t place(Lid lid) const { return places.empty() ? lid.value() : places[lid.value()]; }
};

/// Of the runs of number_lids(), for rows of `row_size` entries: places in the order of kinds and numbers.
RowLayout layout_by_number(std::span<const LidRun> runs, std::size_t row_size);

}  // namespace smd::routing::inline engines
