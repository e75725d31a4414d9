// SPDX-License-Identifier: Apache-2.0
#pragma once
// Trees that are joined only by cables between their upper switches, such as islands and groups of a
// dragonfly+.

#include <vector>

#include "routing/cabling/health.h"
#include "routing/cabling/tree_part.h"

namespace smd::routing::inline cabling {

/// By switch the first switch of the tree that it is in, where cables between switches of one level do not
/// count.
std::vector<SwitchIndex> trees(const Topology& topology, const SwitchRanking& ranking);

/// A missing cable between two trees: all other upper switches have equally many to the other tree. `part` is
/// find_tree_part() of the same input.
void check_between_trees(const HealthInput& in, const TreePart& part, Health& health);

}  // namespace smd::routing::inline cabling
