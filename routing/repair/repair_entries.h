// SPDX-License-Identifier: Apache-2.0
#pragma once
// Entries of one switch that lead nowhere get another port: the least used of the nearest.

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "routing/engines/destination_order.h"
#include "routing/engines/port_rotation_cache.h"
#include "routing/engines/port_selection.h"
#include "routing/ranking/costs.h"
#include "routing/routes.h"
#include "routing/topology/lids.h"

namespace smd::routing::inline repair {

/// Of a port that no neighbour group holds, where ports tell their groups.
constexpr std::uint8_t kNoGroup = 255;

/// An entry to be replaced.
struct BrokenEntry {
  std::uint16_t lid;
  std::uint32_t number;
  bool of_switch;
  SwitchIndex destination;
};

/// What became of the entries of a row.
struct RepairedRow {
  std::shared_ptr<const LftRow> row;  ///< the old one where nothing changed
  std::uint64_t replaced = 0, withdrawn = 0, added = 0;
};

/// Scratch memory for one switch after another.
template <std::unsigned_integral Cost>
class EntryRepairer {
 public:
  /// `columns`: by switch its column in the costs; empty: column i is switch i.
  EntryRepairer(const Topology& topology, const LidMap& lids, const Costs<Cost>& costs,
                std::span<const LidRun> runs, std::span<const std::uint32_t> columns = {})
      : topology_(topology), lids_(lids), costs_(costs), runs_(runs), columns_(columns) {}

  /// `legal(destination)` gives the groups that lead there.
  template <class Legal>
  void replace(SwitchIndex s, std::span<const BrokenEntry> broken, const Legal& legal, LftRow& row,
               RepairedRow& result) {
    count(row, broken);
    rotations_.begin(topology_, s);
    GroupSet set;
    auto of = kNoSwitch;  // the destination that the set is for
    for (const auto& item : broken) {
      if (item.destination != of && item.destination != s) {
        set = nearest(s, item.destination, legal(item.destination));
        of = item.destination;
      }
      auto& entry = row[item.lid];
      const auto now =
          item.destination == s ? lids_.destination(Lid{item.lid}).port.value() : pick(s, item, set);
      ++(now == kNoRoute ? result.withdrawn : entry == kNoRoute ? result.added : result.replaced);
      entry = now;
    }
  }

 private:
  void count(const LftRow& row, std::span<const BrokenEntry> broken);
  GroupSet nearest(SwitchIndex s, SwitchIndex destination, const GroupSet& candidates) const;
  std::uint8_t pick(SwitchIndex s, const BrokenEntry& broken, const GroupSet& set);

  const Topology& topology_;
  const LidMap& lids_;
  const Costs<Cost>& costs_;
  std::span<const LidRun> runs_;
  std::span<const std::uint32_t> columns_;
  std::array<std::array<std::uint32_t, 256>, 2> used_{};  ///< LIDs of end ports, of switches, by port
  PortRotationCache rotations_;
};

extern template class EntryRepairer<std::uint8_t>;
extern template class EntryRepairer<std::uint16_t>;

}  // namespace smd::routing::inline repair
