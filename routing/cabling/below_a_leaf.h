// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small switches that are cabled to a leaf instead of the switches above the leaves.

#include <optional>

#include "routing/topology/topology.h"

namespace smd::routing::inline cabling {

/// The leaf that is the only neighbour of a switch with hosts, if it is not that leaf's only one. Nothing for
/// other switches.
std::optional<SwitchIndex> leaf_above(const Topology& topology, SwitchIndex s);

}  // namespace smd::routing::inline cabling
