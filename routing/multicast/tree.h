// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tree of switches along which packets to a multicast LID are forwarded.

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

/// The ports by which a packet leaves a switch, except the one it came in by.
struct McMask {
  SwitchIndex sw = kNoSwitch;
  PortMask ports;
  friend bool operator==(const McMask&, const McMask&) = default;
};

/// Ascending by switch; switches that forward nothing are left out.
using McTree = std::vector<McMask>;

/// The location of a member of a group.
struct McMember {
  SwitchIndex sw = kNoSwitch;
  PortNum port;          ///< of the switch; 0 is the switch itself
  bool receives = true;  ///< false: a send-only member
  friend bool operator==(const McMember&, const McMember&) = default;
};

/// Number of trees over each cable and switch of one Topology.
class McLoads {
 public:
  /// All 0. The topology must outlive it.
  explicit McLoads(const Topology& topology)
      : topology_(&topology), cables_(topology.channels()), switches_(topology.switches()) {}

  /// Counts the cables and switches of a tree.
  void add(const McTree& tree);
  /// Trees by which packets leave the switch by this port.
  std::uint32_t cable(SwitchIndex s, PortNum port) const { return cables_[topology_->channel(s, port)]; }
  std::uint32_t on(SwitchIndex s) const { return switches_[s]; }  ///< trees that use the switch

 private:
  const Topology* topology_;
  std::vector<std::uint32_t> cables_, switches_;
};

/// Grows a tree for the members (in any order; those without a switch are skipped) from what is left of
/// `previous` (empty: none), by shortest and then least loaded paths, upwards only as far as the ranking
/// allows. Parts of the tree without receivers get no packets; members in different components get a tree
/// each. Pure.
McTree grow_tree(const Topology& topology, const SwitchRanking& ranking, const McTree& previous,
                 std::span<const McMember> members, const McLoads& loads);

}  // namespace smd::routing::inline multicast
