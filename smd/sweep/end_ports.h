// SPDX-License-Identifier: Apache-2.0
#pragma once
// End ports by port GUID.

#include <cstddef>
#include <map>
#include <set>

#include "smd/sweep/subnet.h"

namespace smd::sm::inline sweeping {

/// A port of a Subnet: index into its nodes, and the port number.
struct PortPlace {
  std::size_t node = 0;
  PortNum port;
};

/// The port's own GUID; those of a switch have the node's.
Guid port_guid(const Node& node, PortNum port);

/// GUID of the port that the SM is on; 0 where it is not known.
Guid own_port_guid(const Subnet& subnet);

/// Where the end ports with these port GUIDs are; those that are not in the Subnet are left out.
std::map<Guid, PortPlace> find_end_ports(const Subnet& subnet, const std::set<Guid>& ports);

}  // namespace smd::sm::inline sweeping
