// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part of a fabric that is compared as a tree.

#include <optional>
#include <string>
#include <vector>

#include "routing/cabling/health.h"
#include "routing/ranking/switch_ranking.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline cabling {

struct TreePart {
  std::optional<Topology> topology;  ///< nothing: all of the fabric
  SwitchRanking ranking;
  std::string why_not_all;  ///< why the fabric is no tree; empty if it is one
  bool tree = false;        ///< there is such a part
};

/// Leaves out switches below leaves, and cables within a level where the fabric is no tree for them.
TreePart find_tree_part(const HealthInput& in);

/// Says of the switches that find_tree_part() leaves out that they differ.
void check_below_leaves(const HealthInput& in, Health& health);

}  // namespace smd::routing::inline cabling
