// SPDX-License-Identifier: Apache-2.0
#pragma once
// Proof of tables, whoever made them. Shares the topology with the engines and nothing else.

#include <memory>
#include <span>

#include "routing/routes.h"
#include "routing/topology/context.h"
#include "routing/verify/report.h"

namespace smd::routing::inline verify {

/// Where every (switch, LID) ends, and the cycles in the complete channel dependency graph of each layer.
/// Tables without faults take a look at each step alone; others have all packets followed.
/// Rows may be missing (null), short, or hold any byte. When stopped the result is of no use.
Verification verify_routes(const RoutingContext& in, const Routes& routes);

}  // namespace smd::routing::inline verify
