// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which engines `auto` compares.

#include <cstdint>
#include <string_view>
#include <vector>

#include "routing/chain/shape.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline chain {

/// Whether a cable joins two switches with hosts.
bool joins_leaves(const Topology& topology);

/// To what the time of engines that search among the turns of channels is proportional: switches times
/// directed links between neighbours.
std::uint64_t search_work(const Topology& topology);

/// All engines are compared where that is a matter of some 0.1 s: dragonflies of 100, HyperX of 64 switches.
inline constexpr std::uint64_t kCompareAll = std::uint64_t{1} << 17;
/// `nue` takes at most about two seconds for so much work: a torus of 512 switches.
inline constexpr std::uint64_t kCompareNue = std::uint64_t{1} << 21;

/// For a fabric that is no tree, in order of preference where loads are equal. `layered`: engines with
/// several layers, too.
std::vector<std::string_view> engines_for(const Shape& shape, std::uint64_t work, bool layered);

}  // namespace smd::routing::inline chain
