// SPDX-License-Identifier: Apache-2.0
#pragma once
// Swapped cables in dragonflies and dragonflies+.

#include <optional>

#include "routing/cabling/health.h"

namespace smd::routing::inline cabling {

/// Two swapped cables in a fabric of groups of switches, which have equally many cables to each other:
/// reported if nothing deviates once they are put right. Returns the fabric with them put right; nothing if
/// there are none.
std::optional<Topology> check_group_swaps(const HealthInput& in, Health& health);

}  // namespace smd::routing::inline cabling
