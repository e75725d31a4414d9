// SPDX-License-Identifier: Apache-2.0
#pragma once
// The ports of a Subnet as sets of ports ask for them (config/port_set.h).

#include <cstdint>
#include <vector>

#include "config/port_set.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline decisions {

struct PortViews {
  std::vector<config::PortView> views;  ///< names point into the Subnet
  std::vector<PeerPort> places;         ///< of the views
};

enum class ViewedPorts : std::uint8_t {
  end_ports,
  all,  ///< external ports of switches too
};

/// Of partitions end ports: links between switches let all partitions pass. The levels of a tree are counted
/// from the switches with CAs, rails by SystemImageGUID. Pure; O(ports log ports).
PortViews port_views(const Subnet& subnet, ViewedPorts which = ViewedPorts::end_ports);

}  // namespace smd::sm::inline decisions
