// SPDX-License-Identifier: Apache-2.0
#pragma once
// What nearly every computation of routing takes.

#include <stop_token>

#include "routing/parallel.h"
#include "routing/topology/lids.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline topology {

/// The fabric, its LIDs, the threads to compute on, and how to stop. Holds references: passed down a call,
/// not kept. Once `stop` is requested, functions return early and their results are of no use.
struct RoutingContext {
  const Topology& topology;
  const LidMap& lids;
  const Parallel& parallel;
  std::stop_token stop{};
};

}  // namespace smd::routing::inline topology
