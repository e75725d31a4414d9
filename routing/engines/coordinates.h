// SPDX-License-Identifier: Apache-2.0
#pragma once
// From the dimension of each link to the coordinates of each switch.

#include "routing/engines/dimensions.h"
#include "routing/engines/lattice.h"

namespace smd::routing::inline engines {

/// Switches that links of other dimensions join have the same coordinate. Where missing links split such a
/// set its parts are joined again, as far as their neighbours show that they belong together. Coordinates may
/// repeat.
Lattice join_coordinates(const SwitchLinks& links, const Dimensions& dimensions);

/// Gives switches with few links, whose coordinates are known only in part, the one free place that fits
/// their neighbours.
void place_rest(const SwitchLinks& links, Lattice& lattice);

/// The only dimension in which both switches differ; kNoDimension: none, or several.
std::uint8_t only_difference(const Lattice& lattice, SwitchIndex a, SwitchIndex b);

}  // namespace smd::routing::inline engines
