// SPDX-License-Identifier: Apache-2.0
#pragma once
// From the tree that is installed to another one, while switches have the one or the other.

#include <optional>

#include "routing/multicast/tree.h"

namespace smd::routing::inline multicast {

/// What has to be installed everywhere before `target` may be written: of `installed` what `target` has too.
/// Nothing where the two together close no circle: then any mixture of them is a part of a tree, no packet
/// comes twice, and `target` may be written at once, in any order. Pure.
std::optional<McTree> intermediate_tree(const Topology& topology, const McTree& installed,
                                        const McTree& target);

}  // namespace smd::routing::inline multicast
