// SPDX-License-Identifier: Apache-2.0
#pragma once
// Builds forwarding tables from costs: common to all engines that choose among next hops of equal cost.

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
  /// By switch its d-mod-k index: round robin. Empty: the port with the fewest destinations so far, for
  /// fabrics that are not trees.
  std::span<const DmodkIndex> indices;
  /// With indices only: round robin upwards runs over the undamaged tree. Null: over the existing ports.
  const TreeTemplate* tree_template = nullptr;
};

/// One row per switch. The entry of a LID is one of the ports to next hops that are one hop nearer to its
/// switch, chosen as `input` says; 255 if there is none. Each switch may be in at most one of the columns.
template <std::unsigned_integral Cost>
std::vector<std::shared_ptr<const LftRow>> build_lfts(const EngineInput& in,
                                                      std::span<const Columns<Cost>> columns,
                                                      const LftBuildInput& input);

extern template std::vector<std::shared_ptr<const LftRow>> build_lfts<std::uint8_t>(
    const EngineInput&, std::span<const Columns<std::uint8_t>>, const LftBuildInput&);
extern template std::vector<std::shared_ptr<const LftRow>> build_lfts<std::uint16_t>(
    const EngineInput&, std::span<const Columns<std::uint16_t>>, const LftBuildInput&);

}  // namespace smd::routing::inline engines
