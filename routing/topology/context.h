// SPDX-License-Identifier: Apache-2.0
#pragma once
// The arguments that nearly every computation of routing takes.

#include <stop_token>

#include "routing/parallel.h"
#include "routing/topology/lids.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline topology {

/// The fabric, its LIDs, threads to compute on, and a way to stop. Holds references: pass it down a call, do
/// not keep it. After `stop` was requested functions return early, and their results are of no use.
struct RoutingContext {
  const Topology& topology;
  const LidMap& lids;
  const Parallel& parallel;
  std::stop_token stop{};
};

}  // namespace smd::routing::inline topology
