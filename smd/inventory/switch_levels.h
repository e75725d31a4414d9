// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far switches are from the hosts.

#include <optional>
#include <string_view>
#include <vector>

#include "smd/inventory/inventory.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline inventory {

/// Whether a node with this NodeDescription is one of SHARP's aggregation nodes, which are CAs within
/// switches.
bool is_aggregation_node(std::string_view description);

/// By node of `subnet` the links to the nearest switch with hosts: adapters that are no aggregation nodes.
/// Hosts that `known` has lost count, so that a leaf stays one while its hosts are off; null: none are known.
/// Nothing of nodes that are no switches, and where no way leads to hosts.
std::vector<std::optional<unsigned>> switch_levels(const Subnet& subnet, const Inventory* known);

}  // namespace smd::sm::inline inventory
