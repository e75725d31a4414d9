// SPDX-License-Identifier: Apache-2.0
#pragma once
// One switch's table after the next, by an order of up and down.

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

/// Scratch memory for one switch after another. Costs are to all switches, by SwitchIndex; `twins` are those
/// by the order.
template <std::unsigned_integral Cost>
class RowRepairer {
 public:
  RowRepairer(const Topology& topology, const LidMap& lids, const SwitchRanking& ranking,
              const Costs<Cost>& costs, std::span<const LidRun> runs,
              std::span<const SwitchIndex> equivalents);

  RepairedRow repair(SwitchIndex s, const std::shared_ptr<const LftRow>& old);

 private:
  /// Neighbours whose costs are alike, but to each other.
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
  std::array<std::uint8_t, 256> group_of_{};  ///< by port; those without a neighbour: kNoGroup
  std::size_t words_ = 0;
  std::array<std::vector<std::uint64_t>, 4> legal_;  ///< by destination the groups that lead there
  std::vector<BrokenEntry> broken_;
  EntryRepairer<Cost> entry_repairer_;
};

extern template class RowRepairer<std::uint8_t>;
extern template class RowRepairer<std::uint16_t>;

}  // namespace smd::routing::inline repair
