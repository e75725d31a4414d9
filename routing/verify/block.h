// SPDX-License-Identifier: Apache-2.0
#pragma once
// 64 LIDs of all tables at a time, a bit each: where they go, and which arrive.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "routing/routes.h"
#include "routing/topology/lids.h"
#include "routing/topology/topology.h"

namespace smd::routing {

using LidBits = std::uint64_t;

/// LIDs that leave a switch by one port, towards another switch.
struct Way {
  SwitchIndex peer = 0;
  PortNum out;
  LidBits lids = 0;
};

/// Which LIDs of a block there are, and whose.
struct BlockLids {
  LidBits live = 0;   ///< lead to a switch or an end port of one
  LidBits hosts = 0;  ///< of end ports that are not aggregation nodes
  LidBits end_ports = 0;
};

/// Scratch memory for one block after another; load() first.
class Block {
 public:
  Block(const Topology& topology, const LidMap& lids, const Routes& routes);

  /// LIDs number * 64 to number * 64 + 63.
  void load(std::size_t number);
  /// Follows all of them from all switches.
  void follow();

  const BlockLids& lids() const { return own_; }
  Lid lid(unsigned bit) const { return Lid{static_cast<std::uint16_t>(first_ + bit)}; }
  std::span<const Way> ways(SwitchIndex s) const {
    return std::span(ways_).subspan(base_[s], base_[s + 1] - base_[s]);
  }
  LidBits arrive(SwitchIndex s) const { return arrive_[s]; }        ///< after follow()
  LidBits routed(SwitchIndex s) const { return routed_[s]; }        ///< have any entry but 255
  LidBits forwarded(SwitchIndex s) const { return forwarded_[s]; }  ///< leave towards a switch
  /// Live LIDs of the switch's part of the fabric.
  LidBits connected(SwitchIndex s) const { return connected_[topology_.component(s)]; }
  /// What traffic from end port to end port crosses each switch, by SwitchIndex.
  std::vector<LidBits> end_to_end() const;

 private:
  void scan(SwitchIndex s, const LftRow& row);
  void add(SwitchIndex s, std::uint8_t port, LidBits lids);
  bool sweep(bool upwards);

  const Topology& topology_;
  const LidMap& lids_;
  const Routes& routes_;
  std::vector<SwitchIndex> outwards_;  ///< switches by distance from the leaves
  std::size_t first_ = 0;
  BlockLids own_;
  std::vector<Destination> destinations_;
  std::vector<LidBits> connected_;  ///< by component
  std::vector<std::uint32_t> base_;
  std::vector<Way> ways_;
  std::vector<LidBits> arrive_, routed_, forwarded_;
};

/// Entries of a block that equal `port`, a bit each.
LidBits equal_to(const std::uint8_t* block, std::uint8_t port);

}  // namespace smd::routing
