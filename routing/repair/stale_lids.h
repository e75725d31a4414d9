// SPDX-License-Identifier: Apache-2.0
#pragma once
// Entries of LIDs that nobody has now: a leaf that restarts finds them as it left them.

#include "routing/repair/repair.h"

namespace smd::routing::inline repair {

/// They stay as long as they end somewhere; LIDs whose packets would go round are taken away everywhere.
void drop_looping_stale_lids(const RoutingContext& in, Repaired& repaired);

}  // namespace smd::routing::inline repair
