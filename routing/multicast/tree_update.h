// SPDX-License-Identifier: Apache-2.0
#pragma once
// The transition from the installed tree to another one, while switches hold either.

#include <optional>

#include "routing/multicast/tree.h"

namespace smd::routing::inline multicast {

/// The part common to both trees, which must be installed everywhere before `target` is written. Nothing if
/// both together contain no loop: then any mixture of them is part of a tree, no packet is duplicated, and
/// `target` may be written at once in any order. Pure.
std::optional<McTree> intermediate_tree(const Topology& topology, const McTree& installed,
                                        const McTree& target);

}  // namespace smd::routing::inline multicast
