// SPDX-License-Identifier: Apache-2.0
#pragma once
// Proof of tables that differ little from proven ones.

#include <memory>
#include <optional>
#include <span>

#include "routing/routes.h"
#include "routing/topology/context.h"
#include "routing/verify/report.h"

namespace smd::routing::inline verify {

/// A fabric with its tables, and what verification found in them.
struct Proven {
  const Topology& topology;
  const LidMap& lids;
  std::span<const std::shared_ptr<const LftRow>> rows;  ///< by SwitchIndex
  const Layers& layers;
  const Verification& verification;
};

/// What verify() would find, told from what was found before and from the entries that differ, or whose port
/// leads elsewhere now. All others need no look: a packet that meets none of them goes the way it went
/// before, and one that meets one goes on from there as that entry's was followed. Each new dependency of
/// channels begins or ends at such an entry; the graph of before with all of those is searched for cycles.
/// Nothing where that is not enough, as when something is wrong, much has changed, or there is a new switch:
/// only verify() knows then.
std::optional<Verification> verify_changes(const Proven& before, const RoutingContext& now,
                                           const Routes& routes);

/// verify_changes(), and where that does not know, verify().
Verification verify_after(const Proven& before, const RoutingContext& now, const Routes& routes);

}  // namespace smd::routing::inline verify
