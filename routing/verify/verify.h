// SPDX-License-Identifier: Apache-2.0
#pragma once
// Verification of tables from any source. Shares the topology with the engines and nothing else.

#include <memory>
#include <span>

#include "routing/routes.h"
#include "routing/topology/context.h"
#include "routing/verify/report.h"

namespace smd::routing::inline verify {

/// Finds where every (switch, LID) ends, and the cycles in the complete channel dependency graph of each
/// layer. Tries prove() first, trace_all() if that fails. Rows may be null or short, and may hold any byte.
/// When stopped, the result is of no use.
Verification verify_routes(const RoutingContext& in, const Routes& routes);

}  // namespace smd::routing::inline verify
