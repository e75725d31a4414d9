// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a tenant sees of a subnet.

#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "smd/access/access.h"
#include "smd/api/backend.h"
#include "smd/api/fabric_ports.h"
#include "smd/inventory/inventory.h"

namespace smd::api {

/// Whether the caller sees the partition of that name.
bool sees_partition(const access::Access& access, std::string_view subnet, std::string_view partition);
/// The member ports of the partitions that a tenant sees; nothing: the caller sees all ports.
std::optional<std::set<sm::LinkEnd>> ports_seen(const access::Access& access, const SubnetView& view);

/// Ports that a caller sees, of ports_seen(); null: all.
using OnlyPorts = const std::set<sm::LinkEnd>*;
/// Whether this port is one of them.
bool sees(OnlyPorts only, const sm::Node& node, PortNum port);

/// Ports of lost nodes that would be members of a tenant's partitions by their names, types or GUIDs, as
/// absent_ports() has them; none for callers who see all.
NamedPorts lost_ports_seen(const access::Access& access, const SubnetView& view);

/// The P_Keys of those partitions, in the order of the policy; nothing: the caller sees all.
std::optional<std::vector<PKey>> pkeys_seen(const access::Access& access, const SubnetView& view);

}  // namespace smd::api
