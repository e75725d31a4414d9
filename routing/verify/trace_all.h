// SPDX-License-Identifier: Apache-2.0
#pragma once
// Complete verification by tracing every path.

#include "routing/routes.h"
#include "routing/topology/context.h"
#include "routing/verify/report.h"

namespace smd::routing::inline verify {

/// The result of verify_routes() for any tables. Several times the work of prove().
Verification trace_all(const RoutingContext& in, const Routes& routes);

}  // namespace smd::routing::inline verify
