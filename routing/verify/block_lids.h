// SPDX-License-Identifier: Apache-2.0
#pragma once
// 64 consecutive LIDs: which of them are in use, and by what.

#include <array>
#include <cstddef>
#include <vector>

#include "routing/topology/lids.h"
#include "routing/topology/topology.h"
#include "routing/verify/egress_sets.h"

namespace smd::routing::inline verify {

/// Call load() first; then again for another block.
class BlockLids {
 public:
  /// References must outlive it.
  BlockLids(const Topology& topology, const LidMap& lids)
      : topology_(topology), lids_(lids), connected_(topology.components()) {}

  /// LIDs number * 64 to number * 64 + 63.
  void load(std::size_t number);

  std::size_t first() const { return first_; }
  Lid lid(unsigned bit) const { return Lid{static_cast<std::uint16_t>(first_ + bit)}; }  ///< `bit`: 0 to 63
  /// Where LID number `bit` leads; only after load().
  const Destination& destination(unsigned bit) const { return destinations_[bit]; }
  LidBits live() const { return live_; }    ///< lead to a switch or to an end port of one
  LidBits hosts() const { return hosts_; }  ///< of end ports that are not aggregation nodes
  LidBits end_ports() const { return end_ports_; }
  /// LIDs in use in the component of the switch.
  LidBits connected(SwitchIndex s) const { return connected_[topology_.component(s)]; }

 private:
  const Topology& topology_;
  const LidMap& lids_;
  std::size_t first_ = 0;
  LidBits live_ = 0, hosts_ = 0, end_ports_ = 0;
  std::array<Destination, 64> destinations_;
  std::vector<LidBits> connected_;  ///< by component
};

}  // namespace smd::routing::inline verify
