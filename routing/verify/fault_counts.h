// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counts packets that do not arrive, and records where they end.

#include <vector>

#include "routing/verify/lid_block.h"
#include "routing/verify/report.h"

namespace smd::routing::inline verify {

/// Adds the faults of traced blocks to a Verification; keeps the first example of each kind.
class FaultCounts {
 public:
  /// For tables of these routes only. References must outlive it.
  FaultCounts(const Topology& topology, const LidMap& lids, const Routes& routes)
      : topology_(topology), lids_(lids), routes_(routes), outcome_(topology.switches()) {}

  /// Adds the faults of a block after its follow().
  void add(const LidBlock& block, Verification& found);
  /// Of the LIDs connected with the switch, `unreached` do not arrive; they include all that are not
  /// `routed`.
  void add_unreached(const BlockLids& lids, SwitchIndex s, LidBits routed, LidBits unreached,
                     Verification& found);

 private:
  enum class Outcome : std::uint8_t { unknown, arrives, loops, discarded };

  void add_misrouted(const LidBlock& block, unsigned bit, Verification& found);
  Outcome outcome(SwitchIndex s, Lid lid);
  Outcome step(SwitchIndex& s, Lid lid) const;
  void add_pairs(SwitchIndex s, Lid lid, bool routed, Verification& found);
  bool counted_before(SwitchIndex s, const Destination& to, LidRange range);
  std::vector<Hop> trace(SwitchIndex s, Lid lid) const;

  const Topology& topology_;
  const LidMap& lids_;
  const Routes& routes_;
  std::vector<Outcome> outcome_;  ///< of one LID, by switch
};

}  // namespace smd::routing::inline verify
