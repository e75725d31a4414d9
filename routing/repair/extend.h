// SPDX-License-Identifier: Apache-2.0
#pragma once
// Make-before-break repair: adds entries and changes none in use.

#include <cstdint>
#include <expected>
#include <memory>
#include <span>

#include "routing/repair/repair.h"

namespace smd::routing::inline repair {

/// Which of the possible paths a switch without one gets.
enum class AddedPaths : std::uint8_t {
  nearest,  ///< the shortest
  known,    ///< the one whose channels wait as others do already; where there is none, the shortest
};

struct ExtendInput {
  RoutingContext context;
  /// Installed tables by SwitchIndex; null: no entries.
  std::span<const std::shared_ptr<const LftRow>> old;
  Layers layers{};
  AddedPaths added = AddedPaths::nearest;
  /// Switches hold these tables: packets may be on their way by entries that do not arrive.
  bool installed = true;
  /// Orders of the LIDs that are tried: which come first decides which of them find a path.
  unsigned tries = 8;
};

/// Keeps entries that lead to their LID, whatever ranking they follow. Other switches use a neighbour that
/// arrives or was attached before, nearest first, where this closes no cycle of channels with all that is
/// kept and added, so that no traffic is interrupted: hosts first, then aggregation nodes, then switches.
/// no_legal_path if a connected pair of hosts finds no such path; others may stay without.
std::expected<Repaired, RouteError> extend(const ExtendInput& in);

}  // namespace smd::routing::inline repair
