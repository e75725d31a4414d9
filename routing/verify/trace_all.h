// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every packet followed: what is wrong with tables, if anything is.

#include "routing/routes.h"
#include "routing/topology/context.h"
#include "routing/verify/report.h"

namespace smd::routing::inline verify {

/// What verify() finds, whatever it is. Several times the work of prove().
Verification trace_all(const RoutingContext& in, const Routes& routes);

}  // namespace smd::routing::inline verify
