// SPDX-License-Identifier: Apache-2.0
#pragma once
// The order in which SLs get other VLs while packets are on their way.

#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

#include "routing/routes.h"
#include "routing/topology/context.h"

namespace smd::routing::inline update {

/// By switch: VL by SL of packets from port `in` to port `out` at in * (ports + 1) + out.
using SlToVlMaps = std::vector<std::vector<std::array<std::uint8_t, 16>>>;
using SlSet = std::bitset<16>;

struct VlChange {
  const Routes& routes;             ///< the forwarding tables that switches hold, and the layers of paths
  std::vector<SlSet> sls_of_layer;  ///< that paths of a layer may have
  SlToVlMaps before, after;
};

struct VlSteps {
  std::vector<SlSet> steps;  ///< in order; together all SLs whose maps differ
  bool proven = true;        ///< false: the last step may close a credit loop while it is under way
};

/// Steps in each of which some SLs change, such that there is no credit loop over (channel, VL) while any of
/// the switches map them as before and any as after. All in one step where that is proven; else one after the
/// other, each SL as soon as its new VL has been left by others. Pure; O(switches x LIDs x hops) a step.
VlSteps vl_steps(const RoutingContext& in, const VlChange& change);

}  // namespace smd::routing::inline update
