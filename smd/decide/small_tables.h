// SPDX-License-Identifier: Apache-2.0
#pragma once
// Forwarding tables that are too small for the LIDs of the fabric: which LIDs are routed all the same, and
// which switches are not.

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "mad/base/id.h"
#include "routing/topology/input.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline decisions {

/// LIDs of hosts by the switch that they are connected to (node GUID).
using LidsBehind = std::unordered_map<Guid, std::size_t>;

struct TableLimit {
  Lid last = kLastUnicastLid;  ///< the highest LID that is routed
  bool all_fit = true;         ///< `last` is enough for `needed` LIDs
};

/// Of all limits the one by which most hosts are reached: no route leads through a switch with a smaller
/// table, so a low limit costs LIDs and a high one costs switches, and the hosts on them. `needed`: LIDs that
/// the whole fabric takes; `first`: the lowest that is given. Pure.
TableLimit table_limit(const Subnet& subnet, const LidsBehind& hosts, std::size_t needed, Lid first);

/// Switches that no route leads to because tables are too small: theirs, or those of all switches on the way
/// from where most hosts are. Ascending; empty where no table is too small.
std::vector<Guid> beyond_tables(const Subnet& subnet, const routing::TopologyInput& routed);

}  // namespace smd::sm::inline decisions
