// SPDX-License-Identifier: Apache-2.0
#pragma once
// 64 LIDs of all tables at a time, a bit each: the ports they take, and whether they arrive.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "routing/routes.h"
#include "routing/topology/lids.h"
#include "routing/topology/topology.h"
#include "routing/verify/block_lids.h"
#include "routing/verify/egress_sets.h"

namespace smd::routing::inline verify {

/// Call load() first; then again for another block.
class LidBlock {
 public:
  /// `equivalents` as find_equivalent_switches() returns them; empty: each switch by itself.
  LidBlock(const Topology& topology, const LidMap& lids, const Routes& routes,
           std::span<const SwitchIndex> equivalents);

  /// LIDs number * 64 to number * 64 + 63.
  void load(std::size_t number);
  /// Traces all LIDs from all switches.
  void follow();

  const BlockLids& lids() const { return own_; }
  const EgressSets& egress() const { return egress_; }
  LidBits arrive(SwitchIndex s) const { return arrive_[egress_.leader(s)]; }  ///< after follow()
  /// LIDs with an entry other than 255.
  LidBits routed(SwitchIndex s) const { return routed_[egress_.leader(s)]; }
  /// By switch the LIDs with traffic from end port to end port across it.
  std::vector<LidBits> end_to_end() const;

 private:
  void find_leaders();
  void scan(SwitchIndex s);
  void add(SwitchIndex s, std::uint8_t port, LidBits bits);
  bool sweep(bool upwards);

  const Topology& topology_;
  const Routes& routes_;
  /// Groups of two or more equivalent switches.
  std::vector<std::vector<SwitchIndex>> groups_;
  std::vector<SwitchIndex> outwards_;         ///< switches by distance from the leaves
  std::vector<const std::uint8_t*> entries_;  ///< by switch; null where there is no row of full length
  std::vector<SwitchIndex> next_switch_;      ///< by channel
  BlockLids own_;
  std::vector<bool> is_destination_;  ///< by switch
  EgressSets egress_;
  std::vector<LidBits> arrive_, routed_;
};

}  // namespace smd::routing::inline verify
