// SPDX-License-Identifier: Apache-2.0
#pragma once
// `updn` below one leaf.

#include <optional>
#include <vector>

#include "mad/base/id.h"
#include "routing/chain/proven_routes.h"
#include "routing/engines/engine.h"

namespace smd::routing::inline chain {

struct RootedRoutes {
  std::vector<Guid> roots;  ///< one leaf of each part of the fabric
  ProvenRoutes tables;
};

/// Below a leaf all shortest paths between leaves of a tree stay legal, and two top switches have a path
/// through it. Where hosts are at several heights, or cables are missing, its place decides how evenly links
/// are loaded: of all leaves (in large fabrics of some) the one with the least measure_load(), so that not
/// the order of GUIDs chooses it. Nothing where the fabric is so large that this takes long (search_work()),
/// none is proven, or it is stopped. `in.options` are ignored. Pure.
std::optional<RootedRoutes> best_leaf_root(const EngineInput& in);

}  // namespace smd::routing::inline chain
