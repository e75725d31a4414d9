// SPDX-License-Identifier: Apache-2.0
#pragma once
// Proof of tables in which nothing is wrong, without following packets.

#include <optional>

#include "routing/routes.h"
#include "routing/topology/context.h"
#include "routing/verify/report.h"

namespace smd::routing::inline verify {

/// What verify() finds, where each entry leads on (see LidTile), no route is missing that hosts need, and the
/// complete channel dependency graph has no cycle. Nothing where that is not so, where there are several
/// layers, or switches of more than 253 ports.
std::optional<Verification> prove(const RoutingContext& in, const Routes& routes);

}  // namespace smd::routing::inline verify
