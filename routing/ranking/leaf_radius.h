// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far most leaves are from a switch.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "routing/topology/topology.h"

namespace smd::routing::inline ranking {

constexpr auto kUnranked = std::numeric_limits<std::int32_t>::max();
/// Leaves that are looked at to find the top of a tree; a sample where there are more.
constexpr std::size_t kLeavesCompared = 512;

/// At most `count` of them, evenly spread.
std::vector<SwitchIndex> sample_of(std::span<const SwitchIndex> all, std::size_t count = kLeavesCompared);

/// For each switch the distance within which nine of ten leaves lie; kUnranked where none is reached.
std::vector<std::int32_t> leaf_radius(const Topology& topology, std::span<const SwitchIndex> leaves);

}  // namespace smd::routing::inline ranking
