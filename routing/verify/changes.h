// SPDX-License-Identifier: Apache-2.0
#pragma once
// Incremental verification: tables that differ little from proven ones.

#include <memory>
#include <optional>
#include <span>

#include "routing/routes.h"
#include "routing/topology/context.h"
#include "routing/verify/report.h"

namespace smd::routing::inline verify {

/// A fabric with its tables and the result of their verification.
struct Proven {
  const Topology& topology;
  const LidMap& lids;
  std::span<const std::shared_ptr<const LftRow>> rows;  ///< by SwitchIndex
  const Layers& layers;
  const Verification& verification;
};

/// The result of verify_routes(), derived from the earlier result and the entries that differ or whose port
/// leads elsewhere now. Nothing if that is not sufficient: something is wrong, much has changed, or there is
/// a new switch.
std::optional<Verification> verify_changes(const Proven& before, const RoutingContext& now,
                                           const Routes& routes);

/// verify_changes(), or verify_routes() if that returns nothing.
Verification verify_after(const Proven& before, const RoutingContext& now, const Routes& routes);

}  // namespace smd::routing::inline verify
