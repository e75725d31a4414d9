// SPDX-License-Identifier: Apache-2.0
#pragma once
// Switches that were built another way than those of their group, such as management leaves.

#include "routing/cabling/free_ports.h"
#include "routing/cabling/health.h"
#include "routing/ranking/switch_ranking.h"
#include "routing/ranking/tree_template.h"

namespace smd::routing::inline cabling {

/// Whether most hosts of a leaf have another speed than most hosts of the others of its group, or its cables
/// upwards are at consecutive ports and some not where the others have theirs to the same switch: they were
/// plugged in one after the other, and none has gone from between them.
bool is_of_another_kind(const HealthInput& in, const SwitchRanking& ranking, const SwitchGroup& group,
                        const FreePorts& free_ports, SwitchIndex s);

/// Whether a switch that is cabled in such a row, in the order in which the others of its group have their
/// cables, has none to `peer` though theirs to it is between: a cable that has gone would have left a hole.
bool closes_up_without(const Topology& topology, const SwitchRanking& ranking, const FreePorts& free_ports,
                       SwitchIndex s, SwitchIndex peer);

}  // namespace smd::routing::inline cabling
