// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Subnet as routing sees it.

#include <vector>

#include "config/config.h"
#include "routing/topology/input.h"
#include "routing/topology/lids.h"
#include "routing/topology/topology.h"
#include "smd/decide/decided.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline decisions {

/// Switches that can be programmed for LIDs up to `top`, the cables between them and the end ports on them.
/// In the order of the Subnet's nodes; `file_order`, where given, holds node GUIDs in the order in which
/// quality figures number leaf switches. What end ports are for is told by `config`, too.
routing::TopologyInput topology_input(const Subnet& subnet, Lid top, const config::RoutingConfig& config,
                                      const std::vector<Guid>& file_order = {});

/// `all` without switches that are not in `before`, which are added to `gone`: their cables are not there,
/// and their end ports have no switch.
routing::TopologyInput without_new_switches(const routing::TopologyInput& all,
                                            const routing::Topology& before, std::vector<Guid>& gone);

/// The LIDs of `input`'s switches and end ports.
routing::LidMap lid_map(const routing::TopologyInput& input, const routing::Topology& topology,
                        const LidPart& lids);

/// Compute node, or what NodeInfo and the description say else (SHARP's aggregation nodes are CAs whose
/// description says so).
routing::EndKind end_kind(const Node& node);

}  // namespace smd::sm::inline decisions
