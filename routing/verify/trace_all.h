// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every packet followed: what is wrong with tables, if anything is.

#include <stop_token>

#include "routing/parallel.h"
#include "routing/routes.h"
#include "routing/topology/lids.h"
#include "routing/topology/topology.h"
#include "routing/verify/report.h"

namespace smd::routing {

/// What verify() finds, whatever it is. Several times the work of prove().
Verification trace_all(const Topology& topology, const LidMap& lids, const Routes& routes,
                       const Parallel& parallel, std::stop_token stop);

}  // namespace smd::routing
