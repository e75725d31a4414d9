// SPDX-License-Identifier: Apache-2.0
#pragma once
// The ports of a Subnet as sets of ports ask for them (config/port_set.h).

#include <cstdint>
#include <vector>

#include "config/port_set.h"
#include "smd/decide/stored.h"
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
/// from the switches with CAs, rails by SystemImageGUID; adapters that `stored` (null: none) knows of and
/// that are not there have rails too, so that the others of their machine keep theirs. Pure; O(ports log
/// ports).
PortViews port_views(const Subnet& subnet, const Stored* stored, ViewedPorts which = ViewedPorts::end_ports);

/// The port GUID of an end port that is not there: its node's, or as adapters with several ports number them
/// where such a port has a LID.
Guid absent_port_guid(const Stored& stored, const LinkEnd& end);

}  // namespace smd::sm::inline decisions
