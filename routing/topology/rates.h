// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compares the loads of cables with different rates.

#include <cstdint>
#include <vector>

#include "routing/topology/topology.h"

namespace smd::routing::inline topology {

/// The largest weight of a route: enough for all rates that links have.
inline constexpr std::uint32_t kHeaviestRoute = std::uint32_t{1} << 24;

/// By channel the weight of one route there: routes times weight compares loads of cables with different
/// rates in whole numbers, without rounding for rates that links have. Empty if all cables have the same
/// rate.
std::vector<std::uint32_t> route_weights(const Topology& topology);

/// Whether two switches with the same neighbours at the same ports also have the same rates there.
bool same_rates(const Topology& topology, SwitchIndex one, SwitchIndex other);

}  // namespace smd::routing::inline topology
