// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an operator has accepted as lost is not missing to routing either: it is no part of the widest
// cabling any more.

#include <memory>

#include "routing/repair/reference_topology.h"
#include "smd/decide/decided.h"
#include "smd/inventory/inventory.h"

namespace smd::sm::inline decisions {

/// `known` without switches and cables that are not in the inventory any more, but with all of `routes`
/// (null: there are none). Pure; O(cables).
routing::ReferenceTopology without_accepted(const routing::ReferenceTopology& known,
                                            const Inventory& inventory, const RoutePart* routes);

/// The part with another reference, and with what it says of missing cables. Where none is missing any more
/// the engine that had to be left comes back. Pure.
std::shared_ptr<const RoutePart> with_reference(const RoutePart& part,
                                                std::shared_ptr<const routing::ReferenceTopology> reference);

}  // namespace smd::sm::inline decisions
