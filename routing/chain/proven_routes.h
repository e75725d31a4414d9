// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tables that are compared are proven or dropped.

#include <optional>

#include "routing/routes.h"
#include "routing/topology/context.h"
#include "routing/verify/verify.h"

namespace smd::routing::inline chain {

/// Proven tables and their proof.
struct ProvenRoutes {
  Routes routes;
  Verification verification;
};

/// Of shortest paths. Nothing if the routes of hosts close a cycle of channels. If only those to and from
/// switches do they are others then: a switch asks and is asked seldom, its paths may be longer than the
/// shortest. Pure.
std::optional<ProvenRoutes> proven_shortest(const RoutingContext& in, Routes routes);

}  // namespace smd::routing::inline chain
