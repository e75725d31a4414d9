// SPDX-License-Identifier: Apache-2.0
#pragma once
// Proof of tables, whoever made them. Shares the topology with the engines and nothing else.

#include <memory>
#include <span>
#include <stop_token>

#include "routing/parallel.h"
#include "routing/routes.h"
#include "routing/topology/lids.h"
#include "routing/topology/topology.h"
#include "routing/verify/report.h"

namespace smd::routing {

/// Where every (switch, LID) ends, and the cycles in the complete channel dependency graph of each layer.
/// Tables without faults take a look at each step alone; others have all packets followed.
/// Rows may be missing (null), short, or hold any byte. When stopped the result is of no use.
Verification verify(const Topology& topology, const LidMap& lids, const Routes& routes,
                    const Parallel& parallel, std::stop_token stop = {});

}  // namespace smd::routing
