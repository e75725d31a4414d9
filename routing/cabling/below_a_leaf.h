// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small switches that are cabled to a leaf instead of the switches above the leaves.

#include <optional>

#include "routing/cabling/health.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline cabling {

/// The leaf that is the only neighbour of a switch with hosts, if it is not that leaf's only one. Nothing for
/// other switches.
std::optional<SwitchIndex> leaf_above(const Topology& topology, SwitchIndex s);

/// A cable that one of the switches below one leaf or several lacks: two thirds of the others with as many
/// hosts, two at least, have as many more.
void check_small_switches(const HealthInput& in, Health& health);

}  // namespace smd::routing::inline cabling
