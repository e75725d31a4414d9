// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tells leaves from inner switches that have as many hosts.

#include <span>
#include <vector>

#include "routing/topology/topology.h"

namespace smd::routing::inline ranking {

/// The leaves of a (nearly) bipartite tree among these switches with hosts, ascending. 2-colours the switches
/// and ignores the few cables inside a colour. The colour with more hosts holds the leaves; ties: more such
/// switches, then fewer cables. Of these it keeps the switches that are farther from the others than their
/// neighbours are, which cores are not.
std::vector<SwitchIndex> detect_leaves(const Topology& topology, std::span<const SwitchIndex> leaves);

}  // namespace smd::routing::inline ranking
