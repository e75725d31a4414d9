// SPDX-License-Identifier: Apache-2.0
#pragma once
// P_Keys that the SA answers by: those that a port has acknowledged and is to have.

#include <functional>
#include <memory>

#include "smd/sa/directory.h"

namespace smd::sa {

/// For each end port that holds P_Keys which are decided otherwise, because it refuses to give them up or was
/// not told yet: fn(node, port, keys). A full key that is to be a limited one counts as that; other keys keep
/// their indexes. Nothing where partitions are not managed.
void for_each_narrowed(
    const sm::Snapshot& snapshot,
    const std::function<void(const sm::Node&, PortNum, std::shared_ptr<const HeldPKeys>)>& fn);

/// The keys that answers about this end port go by, where they are not all that it holds; null: they are.
std::shared_ptr<const HeldPKeys> narrowed_pkeys(const sm::Snapshot& snapshot, const sm::Node& node,
                                                PortNum port);

}  // namespace smd::sa
