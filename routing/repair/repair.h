// SPDX-License-Identifier: Apache-2.0
#pragma once
// Repair: keeps the entries that still lead to their destination and replaces the others.

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "routing/engines/engine.h"
#include "routing/ranking/guid_ranking.h"
#include "routing/repair/reference_topology.h"
#include "routing/routes.h"

namespace smd::routing::inline repair {

/// The installed table of a switch.
struct OldRow {
  Guid guid;
  std::shared_ptr<const LftRow> row;  ///< null: no valid entries
};

/// The fabric for which the old tables were right.
struct Before {
  const Topology& topology;
  const LidMap& lids;
};

struct RepairInput {
  RoutingContext context;       ///< the fabric as it is now
  std::span<const OldRow> old;  ///< ascending by GUID; switches may be missing
  const ReferenceTopology& reference;
  const EngineInfo& engine;  ///< the engine of the old tables
  const RoutingOptions& options;
  /// The ranking to repair by, where it is not the engine's own of the reference. Engines without a ranking
  /// ignore it.
  const GuidRanking* ranking = nullptr;
  /// If set: every old entry of a LID in use led to it along the ranking (of the reference, or `ranking`), or
  /// was 255 if that has no path. Then only entries that the change can have broken are examined; the result
  /// is the same, faster. Has no effect if the engine's paths do not follow the ranking.
  const Before* before = nullptr;
};

struct Repaired {
  Routes routes;
  std::uint64_t replaced = 0;   ///< entries that lead elsewhere than before
  std::uint64_t withdrawn = 0;  ///< entries that became 255
  std::uint64_t added = 0;      ///< entries that were 255
  std::uint64_t changes() const { return replaced + withdrawn + added; }  ///< entries that differ from before
};

/// Keeps an entry if its port is up and the next switch has a path to the LID by the engine's ranking; other
/// entries get the least used port to a nearest next hop, so that there is no credit loop. Without a ranking
/// arriving entries are kept and the caller must verify. Unchanged rows are the old pointers. no_legal_path
/// if the ranking has no path for a connected pair of hosts: compute new tables then.
std::expected<Repaired, RouteError> repair_routes(const RepairInput& in);

/// The ranking that repair_routes() goes by, of the switches of the fabric as it is now; nothing if the
/// engine has none there.
std::optional<SwitchRanking> repair_ranking(const RepairInput& in);

}  // namespace smd::routing::inline repair
