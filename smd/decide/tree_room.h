// SPDX-License-Identifier: Apache-2.0
#pragma once
// Room beside unicast paths for multicast trees, which a repair is to keep.

#include <stop_token>
#include <vector>

#include "routing/parallel.h"
#include "routing/repair/extend_layers.h"
#include "routing/topology/topology.h"
#include "smd/decide/decided.h"

namespace smd::sm::inline decisions {

/// What packets of groups wait for, as far as its cables are there `now`: of the spanning trees by which the
/// groups of `before` (may be null) were proven. Empty where no tree crosses a cable, or by another rule.
/// Pure.
std::vector<routing::ReservedWait> waits_of_trees(const McPart* before, const routing::Topology& now);

/// Whether trees for groups can be proven beside the paths of the part. Pure.
bool leaves_room(const RoutePart& part, const routing::Parallel& parallel, std::stop_token stop);

}  // namespace smd::sm::inline decisions
