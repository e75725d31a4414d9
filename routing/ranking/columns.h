// SPDX-License-Identifier: Apache-2.0
#pragma once
// The columns of a tree.

#include <cstdint>
#include <vector>

#include "routing/ranking/switch_ranking.h"
#include "routing/ranking/tree_template.h"

namespace smd::routing::inline ranking {

/// By group of the template its column: groups of one rank with mostly the same top switches above them, such
/// as the second middle switches of all pods. A column has the number of one of its groups.
std::vector<std::uint32_t> columns_of_groups(const SwitchRanking& ranking, const TreeTemplate& tree_template);

}  // namespace smd::routing::inline ranking
