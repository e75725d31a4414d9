// SPDX-License-Identifier: Apache-2.0
#pragma once
// What cables of different rates have to do with loads.

#include <cstdint>
#include <vector>

#include "routing/topology/topology.h"

namespace smd::routing::inline topology {

/// At most so much a route weighs: enough for all rates that links have.
inline constexpr std::uint32_t kHeaviestRoute = std::uint32_t{1} << 24;

/// By channel what one route weighs there: routes times weight compares the loads of cables of different
/// rates in whole numbers, and without rounding where rates are of links. Empty where all cables are alike.
std::vector<std::uint32_t> route_weights(const Topology& topology);

/// Whether two switches with the same neighbours at the same ports have the same rates there, too.
bool same_rates(const Topology& topology, SwitchIndex one, SwitchIndex other);

}  // namespace smd::routing::inline topology
