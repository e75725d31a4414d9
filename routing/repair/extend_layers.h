// SPDX-License-Identifier: Apache-2.0
#pragma once
// Repair of tables whose paths have layers: a pair of switches keeps its layer wherever its paths fit there.

#include <expected>
#include <memory>
#include <span>

#include "routing/repair/repair.h"

namespace smd::routing::inline repair {

/// A packet that leaves a switch by `out` leaves the next one by `then`.
struct ReservedWait {
  SwitchIndex sw = 0;
  PortNum out, then;
};

struct ExtendLayersInput {
  RoutingContext context;
  /// Installed tables by SwitchIndex; null: no entries.
  std::span<const std::shared_ptr<const LftRow>> old;
  /// By pair the layer that its paths have, and the one that a path should have that is made anew. kNoLayer:
  /// any.
  const PairLayers& now;
  const PairLayers& home;
  unsigned most_layers = 1;  ///< 1 to 16
  /// In layer 0 beside the paths: new ones close no cycle with these.
  std::span<const ReservedWait> reserved = {};
};

/// Keeps entries that lead to their LID. Switches before a fault get the way round it by which most of those
/// that lead to them keep their entries, closing no cycle of channels in the layers of their pairs; the
/// others use a neighbour that arrives or was attached before, nearest and least loaded first. A pair gets
/// another layer only where no path fits into its own. Packets that are on their way by entries that do not
/// arrive count as paths, if possible. no_legal_path if a connected pair of hosts finds no path in any layer;
/// others may stay without.
std::expected<Repaired, RouteError> extend_layers(const ExtendLayersInput& in);

}  // namespace smd::routing::inline repair
