// SPDX-License-Identifier: Apache-2.0
#pragma once
// From costs to forwarding tables: what every engine does that picks among next hops of equal cost.

#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "routing/engines/destination_order.h"
#include "routing/engines/engine.h"
#include "routing/engines/next_hops.h"
#include "routing/ranking/costs.h"
#include "routing/ranking/tree_template.h"

namespace smd::routing::inline engines {

struct LftBuildInput {
  std::span<const LidRun> runs;
  /// By turns, in these steps; empty: to the port with the fewest destinations so far, for fabrics that are
  /// no trees.
  std::span<const DmodkIndex> indices;
  /// With steps only: turns upwards are those of the tree that the fabric was built as. Null: of what is
  /// there.
  const TreeTemplate* tree_template = nullptr;
};

/// One row a switch: of the next hops towards each LID's switch that are one step nearer, one each, spread as
/// told; 255 where there is none. Every switch stands in at most one of the columns.
template <std::unsigned_integral Cost>
std::vector<std::shared_ptr<const LftRow>> build_lfts(const EngineInput& in,
                                                      std::span<const Columns<Cost>> columns,
                                                      const LftBuildInput& input);

extern template std::vector<std::shared_ptr<const LftRow>> build_lfts<std::uint8_t>(
    const EngineInput&, std::span<const Columns<std::uint8_t>>, const LftBuildInput&);
extern template std::vector<std::shared_ptr<const LftRow>> build_lfts<std::uint16_t>(
    const EngineInput&, std::span<const Columns<std::uint16_t>>, const LftBuildInput&);

}  // namespace smd::routing::inline engines
