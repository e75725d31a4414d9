// SPDX-License-Identifier: Apache-2.0
#pragma once
// Entries of unassigned LIDs. A leaf that restarts finds them as it left them.

#include "routing/repair/repair.h"

namespace smd::routing::inline repair {

/// Keeps them as long as their packets end somewhere; removes LIDs with a forwarding loop from all tables.
void drop_looping_stale_lids(const RoutingContext& in, Repaired& repaired);

}  // namespace smd::routing::inline repair
