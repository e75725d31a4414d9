// SPDX-License-Identifier: Apache-2.0
#pragma once
// The state of 64 LIDs during an update: the entries in effect, and those that may take effect at any moment.

#include <cstdint>
#include <utility>
#include <vector>

#include "routing/topology/lids.h"
#include "routing/topology/topology.h"
#include "routing/verify/egress_sets.h"

namespace smd::routing::inline update {

/// By switch the 64 entries before and after, and which of them change in this step.
struct BlockChange {
  std::vector<const std::uint8_t*> before, after;  ///< by SwitchIndex; after: at the end of the schedule
  std::vector<LidBits> changes;
  /// Further entries that may be in effect before and throughout, ascending by switch.
  std::vector<std::pair<SwitchIndex, const std::uint8_t*>> perhaps{};
};

class TransitionState {
 public:
  /// For the LIDs from `first` on; references must outlive it.
  TransitionState(const Topology& topology, const LidMap& lids, Lid first, const BlockChange& blocks);

  /// Entries before and after together.
  const EgressSets& both() const { return both_; }
  const EgressSets& before() const { return before_; }
  /// Index of the first new egress set in both().of(s).
  std::size_t first_new(SwitchIndex s) const { return first_new_[s]; }

  /// By switch the changes that might close a forwarding loop; with `keep_arriving` also those that might
  /// interrupt delivery of LIDs that arrive now and in the end.
  std::vector<LidBits> at_fault(bool keep_arriving) const;

 private:
  struct End {
    LidBits here = 0, nowhere = 0;  ///< delivered at this switch; discarded by it
  };
  std::vector<LidBits> in_use() const;
  End add(SwitchIndex s, const std::uint8_t* block, LidBits lids, EgressSets* one, EgressSets* two) const;
  static std::vector<LidBits> arriving(const EgressSets& egress, const std::vector<End>& ends);
  void find_loops(std::vector<LidBits>& fault) const;
  void find_loops_of(unsigned bit, std::vector<LidBits>& fault) const;

  const Topology& topology_;
  const LidMap& lids_;
  Lid first_;
  const BlockChange& blocks_;
  LidBits live_ = 0;
  EgressSets before_, both_;
  std::vector<End> ends_before_, ends_after_, ends_both_;
  std::vector<std::size_t> first_new_;
};

}  // namespace smd::routing::inline update
