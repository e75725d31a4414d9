// SPDX-License-Identifier: Apache-2.0
#pragma once
// From repaired tables to freshly made ones in small steps.

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
  std::size_t most_blocks = 1024;  ///< to be written in one step
};

struct ConvergeStep {
  Routes routes;  ///< now with the step taken; rows without a change are the old pointers
  std::uint64_t entries = 0;
  std::uint64_t blocks = 0;
  bool done = false;  ///< these are the goal's tables
};

/// The next step: whole destinations go over from now to the goal, in the order of LIDs, 64 neighbours at
/// once, as many as `most_blocks` allow, one block of LIDs at least. So each LID goes one of two proven ways
/// from everywhere: nothing loops and all that both reach is reached. Where now and the goal hold to the same
/// order of up and down there is no credit loop either; verify() says whether that is so. Depends on nothing
/// but the input: the same call with the new tables makes the step after it.
ConvergeStep converge(const ConvergeInput& in);

}  // namespace smd::routing::inline repair
