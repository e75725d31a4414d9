// SPDX-License-Identifier: Apache-2.0
#pragma once
// The distance within which most leaves lie, and the switches that are nearest to them.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "routing/topology/topology.h"

namespace smd::routing::inline ranking {

constexpr auto kUnranked = std::numeric_limits<std::int32_t>::max();
/// The top of a tree is found from at most so many leaves; if there are more, from a sample.
constexpr std::size_t kLeavesCompared = 512;

/// At most `count` of the switches, evenly spaced.
std::vector<SwitchIndex> sample_of(std::span<const SwitchIndex> all, std::size_t count = kLeavesCompared);

/// By switch the radius in hops that holds 90 % of the reachable `leaves` (of a sample of kLeavesCompared);
/// kUnranked if none is reachable.
std::vector<std::int32_t> leaf_radius(const Topology& topology, std::span<const SwitchIndex> leaves);

/// The switches with the smallest leaf_radius() of their component, ascending.
std::vector<SwitchIndex> with_least_radius(const Topology& topology, std::span<const SwitchIndex> leaves);

/// Those of with_least_radius(), but for switches that are clearly farther from the hosts of the leaves than
/// a neighbour of them is: that one is above them.
std::vector<SwitchIndex> nearest_to_leaves(const Topology& topology, std::span<const SwitchIndex> leaves);

}  // namespace smd::routing::inline ranking
