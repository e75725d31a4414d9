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

namespace smd::routing {

/// Scratch memory for one switch after another. Costs are to all switches, by SwitchIndex; `twins` are those
/// by the order.
template <std::unsigned_integral Cost>
class Mender {
 public:
  Mender(const Topology& topology, const LidMap& lids, const Order& order, const Costs<Cost>& costs,
         std::span<const Run> runs, std::span<const SwitchIndex> twins);

  Mended mend(SwitchIndex s, const std::shared_ptr<const LftRow>& old);

 private:
  /// Neighbours whose costs are alike, but to each other.
  struct Kin {
    SwitchIndex first = 0;
    bool up = false;
    GroupSet groups;
  };
  void find_legal(SwitchIndex s);
  void mark(SwitchIndex s, const Kin& kin);
  bool leads(Cost own, Cost theirs, bool up) const;
  void find_wrong(SwitchIndex s, const LftRow& row);
  GroupSet legal(SwitchIndex destination) const;

  const Topology& topology_;
  const LidMap& lids_;
  const Order& order_;
  const Costs<Cost>& costs_;
  std::span<const Run> runs_;
  std::span<const SwitchIndex> twins_;
  std::vector<Kin> kins_;
  std::array<std::uint8_t, 256> group_of_{};  ///< by port; those without a neighbour: kNoGroup
  std::size_t words_ = 0;
  std::array<std::vector<std::uint64_t>, 4> legal_;  ///< by destination the groups that lead there
  std::vector<Wrong> wrong_;
  Replacer<Cost> replacer_;
};

extern template class Mender<std::uint8_t>;
extern template class Mender<std::uint16_t>;

}  // namespace smd::routing
