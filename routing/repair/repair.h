// SPDX-License-Identifier: Apache-2.0
#pragma once
// New tables out of old ones: what still leads to its destination stays, what does not is replaced.

#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string_view>

#include "routing/engines/engine.h"
#include "routing/repair/reference_topology.h"
#include "routing/routes.h"

namespace smd::routing::inline repair {

/// The table that a switch has.
struct OldRow {
  Guid guid;
  std::shared_ptr<const LftRow> row;  ///< null: none that counts
};

/// The fabric that old tables were right in.
struct Before {
  const Topology& topology;
  const LidMap& lids;
};

struct RepairInput {
  RoutingContext context;       ///< as the fabric is now
  std::span<const OldRow> old;  ///< ascending by GUID; switches may be missing
  const ReferenceTopology& reference;
  const EngineInfo& engine;  ///< whose tables the old ones are
  const RoutingOptions& options;
  /// Given: every old entry of a LID that was there led to it, along the order of the reference or not at all
  /// where that has no path. Then only what the difference to now can have made wrong is looked at, and the
  /// result is the same, sooner. Of no use where the engine's paths leave the order.
  const Before* before = nullptr;
};

struct Repaired {
  Routes routes;
  std::uint64_t replaced = 0;   ///< entries that lead elsewhere than before
  std::uint64_t withdrawn = 0;  ///< that lead nowhere now
  std::uint64_t added = 0;      ///< that led nowhere before
  std::uint64_t changes() const { return replaced + withdrawn + added; }
};

/// An entry stays where its port is up and the next switch has a path on to the LID, by the engine's order of
/// up and down (of the reference with all that is there now); else it becomes the port of a nearest next hop,
/// that with the fewest LIDs. Rows without a change are the old pointers. Entries of LIDs that nobody has now
/// stay as long as they do not go round. Old entries that break the order are replaced as well, so that the
/// result has no credit loop if the engine has an order; where it has none, entries stay that arrive, and the
/// caller must verify. Fails where cables connect two hosts and the order has no path: route afresh then.
std::expected<Repaired, RouteError> repair_routes(const RepairInput& in);

}  // namespace smd::routing::inline repair
