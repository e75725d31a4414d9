// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tree of switches that packets to one multicast LID are forwarded along.

#include <bitset>
#include <cstdint>
#include <span>
#include <vector>

#include "mad/base/id.h"
#include "routing/ranking/switch_ranking.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline multicast {

/// By port number; 0 is the switch's own port.
using PortMask = std::bitset<256>;

/// The ports that a packet leaves one switch by; never by the one that it came in by.
struct McMask {
  SwitchIndex sw = kNoSwitch;
  PortMask ports;
  friend bool operator==(const McMask&, const McMask&) = default;
};

/// Ascending by switch; switches that forward nothing are left out.
using McTree = std::vector<McMask>;

/// Where a member of a group is.
struct McMember {
  SwitchIndex sw = kNoSwitch;
  PortNum port;          ///< of the switch; 0 is the switch itself
  bool receives = true;  ///< false: it sends only
  friend bool operator==(const McMember&, const McMember&) = default;
};

/// In how many trees a cable and a switch are. Made for one Topology.
class McLoads {
 public:
  explicit McLoads(const Topology& topology)
      : topology_(&topology), cables_(topology.channels()), switches_(topology.switches()) {}

  void add(const McTree& tree);
  std::uint32_t cable(SwitchIndex s, PortNum port) const { return cables_[topology_->channel(s, port)]; }
  std::uint32_t on(SwitchIndex s) const { return switches_[s]; }

 private:
  const Topology* topology_;
  std::vector<std::uint32_t> cables_, switches_;
};

/// A tree for the members that keeps what is left of `previous` (empty: none), by the shortest and then the
/// least loaded cables. Where the order allows it every branch goes up only, so that packets go up and then
/// down as unicast ones do, and close no cycle of credits with them; where two parts have no switch above
/// both, the shortest way is taken. Towards a part of the tree in which nobody receives nothing is
/// forwarded. Members in parts of the fabric that no way connects get a tree each. `members` in any order;
/// those on no switch are passed over. Pure.
McTree grow_tree(const Topology& topology, const SwitchRanking& ranking, const McTree& previous,
                 std::span<const McMember> members, const McLoads& loads);

}  // namespace smd::routing::inline multicast
