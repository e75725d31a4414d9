// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/row_layout.h"

#include <algorithm>
#include <tuple>

namespace smd::routing::inline engines {
namespace {

/// One by one, in the order of kinds and numbers.
std::vector<LidRun> single_lids(std::span<const LidRun> runs) {
  std::vector<LidRun> each;
  for (const auto& run : runs) {
    for (std::uint16_t i = 0; i < run.length; ++i) {
      auto one = run;
      one.lid = static_cast<std::uint16_t>(run.lid + i);
      one.length = 1;
      one.follows = false;
      one.number = run.number + i;
      each.push_back(one);
    }
  }
  std::ranges::sort(
      each, {}, [](const LidRun& run) { return std::tuple(run.kind, run.number, run.destination, run.lid); });
  return each;
}

}  // namespace

RowLayout layout_by_number(std::span<const LidRun> runs, std::size_t row_size) {
  RowLayout layout;
  layout.places.resize(row_size);
  std::uint16_t place = 0;
  for (auto& one : single_lids(runs)) {
    layout.places[one.lid] = ++place;
    one.lid = place;
    append(layout.runs, one);
  }
  return layout;
}

}  // namespace smd::routing::inline engines
