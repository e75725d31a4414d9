// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counts what does not arrive, and says where it ends.

#include <vector>

#include "routing/verify/lid_block.h"
#include "routing/verify/report.h"

namespace smd::routing::inline verify {

/// Adds the faults of a block that has been followed to `found`; keeps the first example of each kind.
class FaultCounts {
 public:
  FaultCounts(const Topology& topology, const LidMap& lids, const Routes& routes)
      : topology_(topology), lids_(lids), routes_(routes), outcome_(topology.switches()) {}

  void add(const LidBlock& block, Verification& found);
  /// Of those that are connected with the switch, `unreached` do not arrive; all that are not `routed` are
  /// among them.
  void add_unreached(const BlockLids& lids, SwitchIndex s, LidBits routed, LidBits unreached,
                     Verification& found);

 private:
  enum class Outcome : std::uint8_t { unknown, arrives, loops, discarded };

  void add_misrouted(const LidBlock& block, unsigned bit, Verification& found);
  Outcome outcome(SwitchIndex s, Lid lid);
  Outcome step(SwitchIndex& s, Lid lid) const;
  void add_pairs(SwitchIndex s, Lid lid, Verification& found);
  bool counted_before(SwitchIndex s, const Destination& to, LidRange range);
  std::vector<Hop> trace(SwitchIndex s, Lid lid) const;

  const Topology& topology_;
  const LidMap& lids_;
  const Routes& routes_;
  std::vector<Outcome> outcome_;  ///< of one LID, by switch
};

}  // namespace smd::routing::inline verify
