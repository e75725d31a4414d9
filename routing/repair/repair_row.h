// SPDX-License-Identifier: Apache-2.0
#pragma once
// Repairs the table of one switch after another, by a ranking.

#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "routing/engines/destination_order.h"
#include "routing/engines/port_selection.h"
#include "routing/ranking/costs.h"
#include "routing/repair/repair.h"
#include "routing/repair/repair_entries.h"

namespace smd::routing::inline repair {

/// Scratch memory for one switch after another. Costs are to all switches, by SwitchIndex; `equivalents` are
/// those by the ranking.
template <std::unsigned_integral Cost>
class RowRepairer {
 public:
  /// Scratch memory; references must outlive it.
  RowRepairer(const Topology& topology, const LidMap& lids, const SwitchRanking& ranking,
              const Costs<Cost>& costs, std::span<const LidRun> runs,
              std::span<const SwitchIndex> equivalents);

  /// Repairs the row of `s`; `old` may be null or short.
  RepairedRow repair(SwitchIndex s, const std::shared_ptr<const LftRow>& old);

 private:
  /// Neighbours with the same costs, except towards each other.
  struct EquivalentPeers {
    SwitchIndex first = 0;
    bool up = false;
    GroupSet groups;
  };
  void find_legal(SwitchIndex s);
  void mark(SwitchIndex s, const EquivalentPeers& peers);
  bool leads(Cost own, Cost theirs, bool up) const;
  void find_broken(SwitchIndex s, const LftRow& row);
  GroupSet legal(SwitchIndex destination) const;

  const Topology& topology_;
  const LidMap& lids_;
  const SwitchRanking& ranking_;
  const Costs<Cost>& costs_;
  std::span<const LidRun> runs_;
  std::span<const SwitchIndex> equivalents_;
  std::vector<EquivalentPeers> peer_sets_;
  std::array<std::uint8_t, 256> group_of_{};  ///< by port; kNoGroup for ports without a neighbour
  std::size_t words_ = 0;
  std::array<std::vector<std::uint64_t>, 4> legal_;  ///< by destination: the groups that lead there
  std::vector<BrokenEntry> broken_;
  EntryRepairer<Cost> entry_repairer_;
};

extern template class RowRepairer<std::uint8_t>;
extern template class RowRepairer<std::uint16_t>;

}  // namespace smd::routing::inline repair
