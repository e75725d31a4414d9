// SPDX-License-Identifier: Apache-2.0
#pragma once
// Keeps the steps of an update free of credit loops in layers by pair of switches.

#include <vector>

#include "routing/update/update_schedule.h"

namespace smd::routing::inline update {

/// `steps` have no forwarding loops in any order of their writes. Steps that might close a cycle of channels
/// in a layer are divided; LIDs for which that does not help are withdrawn first and written last.
/// Packets are on the layers before. Where the routes in the end have cycles in these, pairs whose layer
/// changes are left out.
std::vector<UpdateStep> keep_layers_acyclic(const RoutingContext& in, const UpdateInput& tables,
                                            std::vector<UpdateStep> steps);

}  // namespace smd::routing::inline update
