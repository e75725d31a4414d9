// SPDX-License-Identifier: Apache-2.0
#pragma once
// Trees that a few cables between their upper switches join.

#include "routing/topology/topology.h"

namespace smd::routing::inline ranking {

/// Whether some switches with hosts are connected with others of their component only through cables that
/// join two switches without hosts of one level of the tree.
bool has_islands(const Topology& topology);

}  // namespace smd::routing::inline ranking
