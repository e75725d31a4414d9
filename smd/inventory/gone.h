// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which of the known nodes are gone, and what went with them.

#include <set>
#include <vector>

#include "smd/inventory/update.h"

namespace smd::sm::inline inventory {

/// Known nodes, not lost so far, to which no path leads any more. Of a node that does not answer while a link
/// to it is up, and of what lies behind it, nothing is known: they are not gone. Links that were lost before
/// `time` tell nothing.
std::set<Guid> gone_nodes(const Inventory& known, const Subnet& now, UnixTime time);

/// Adapters and routers with a link to `node` that are neither in `now` nor lost, ascending: of a switch that
/// does not answer, what cannot be reached because of it.
std::vector<Guid> hosts_behind(const Inventory& known, Guid node, const Subnet& now);

/// The reports about them, made while `known` still has them: a switch with the hosts that went with it,
/// other hosts one by one. Links that were lost before `time` do not count.
std::vector<NodeChange> tell_gone(const Inventory& known, const std::set<Guid>& gone, UnixTime time);

}  // namespace smd::sm::inline inventory
