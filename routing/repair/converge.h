// SPDX-License-Identifier: Apache-2.0
#pragma once
// Moves from repaired tables to recomputed ones in small steps.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "routing/routes.h"
#include "routing/topology/lids.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline repair {

struct ConvergeInput {
  const Topology& topology;
  const LidMap& lids;
  std::span<const std::shared_ptr<const LftRow>> now;  ///< by SwitchIndex; null: no entries
  const Routes& goal;
  std::size_t most_blocks = 1024;  ///< blocks to write in one step at most
};

struct ConvergeStep {
  Routes routes;  ///< `now` after the step; unchanged rows are the old pointers
  std::uint64_t entries = 0;
  std::uint64_t blocks = 0;
  bool done = false;  ///< `routes` are the tables of the goal
};

/// Returns the next step: moves whole destinations from `now` to `goal` in the order of LIDs, as many blocks
/// of 64 LIDs as `most_blocks` allows, at least one. There is no forwarding loop, and what both reach stays
/// reachable; credit loops are the caller's check (verify_routes). Deterministic: called again with the new
/// tables it returns the step after.
ConvergeStep converge(const ConvergeInput& in);

}  // namespace smd::routing::inline repair
