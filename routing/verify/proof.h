// SPDX-License-Identifier: Apache-2.0
#pragma once
// Proof of tables in which nothing is wrong, without following packets.

#include <optional>
#include <stop_token>

#include "routing/parallel.h"
#include "routing/routes.h"
#include "routing/topology/lids.h"
#include "routing/topology/topology.h"
#include "routing/verify/report.h"

namespace smd::routing {

/// What verify() finds, where each entry leads on (see LidTile), no route is missing that hosts need, and the
/// complete channel dependency graph has no cycle. Nothing where that is not so, where there are several
/// layers, or switches of more than 253 ports.
std::optional<Verification> prove(const Topology& topology, const LidMap& lids, const Routes& routes,
                                  const Parallel& parallel, const std::stop_token& stop);

}  // namespace smd::routing
