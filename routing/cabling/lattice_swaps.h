// SPDX-License-Identifier: Apache-2.0
#pragma once
// Swapped cables in meshes, tori, hypercubes and HyperX.

#include <optional>

#include "routing/cabling/health.h"

namespace smd::routing::inline cabling {

/// Two swapped cables in a fabric of sixteen switches or more that all have hosts, and that is a whole
/// lattice of two dimensions or more, or a full mesh, once they are put right: reported, with other pairs of
/// which the same is true. Where they have left pairs of switches with two cables, in smaller fabrics, too.
/// Returns the fabric with them put right; nothing if there are none. Not found where other cables are
/// parallel.
std::optional<Topology> check_lattice_swaps(const HealthInput& in, Health& health);

}  // namespace smd::routing::inline cabling
