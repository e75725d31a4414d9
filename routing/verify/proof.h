// SPDX-License-Identifier: Apache-2.0
#pragma once
// Fast proof of faultless tables, without tracing paths.

#include <optional>

#include "routing/routes.h"
#include "routing/topology/context.h"
#include "routing/verify/report.h"

namespace smd::routing::inline verify {

/// The result of verify_routes(), if each entry leads on (see LidTile), no required route is missing, and the
/// complete channel dependency graph is acyclic. Nothing otherwise, with several layers, or with switches of
/// more than 253 ports.
std::optional<Verification> prove(const RoutingContext& in, const Routes& routes);

}  // namespace smd::routing::inline verify
