// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counts the missing routes of changed tables from those of the tables before.

#include <optional>

#include "routing/topology/context.h"
#include "routing/verify/changes.h"
#include "routing/verify/differences.h"

namespace smd::routing::inline verify {

/// The earlier counts of routes that may be missing, corrected by the differences; the other members are
/// defaults. All required routes existed before. Nothing if a required route is missing now, or if the counts
/// do not follow from the differences.
std::optional<Verification> count_missing(const Proven& before, const RoutingContext& now,
                                          const Routes& routes, const Differences& differences);

}  // namespace smd::routing::inline verify
