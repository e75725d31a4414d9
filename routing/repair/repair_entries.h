// SPDX-License-Identifier: Apache-2.0
#pragma once
// Replaces broken entries of one switch: by the least used port to a nearest neighbour.

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

/// In a table of groups by port: a port in no neighbour group.
constexpr std::uint8_t kNoGroup = 255;

/// An entry to replace.
struct BrokenEntry {
  std::uint16_t lid;
  std::uint32_t number;
  LidKind kind;
  SwitchIndex destination;
};

/// The repaired row and the changes in it.
struct RepairedRow {
  std::shared_ptr<const LftRow> row;  ///< the old pointer if nothing changed
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

  /// Replaces the `broken` entries of `row` and counts them in `result`. `legal(destination)` returns the
  /// groups that lead there.
  template <class Legal>
  void replace(SwitchIndex s, std::span<const BrokenEntry> broken, const Legal& legal, LftRow& row,
               RepairedRow& result) {
    count(row, broken);
    rotations_.begin(topology_, s);
    GroupSet set;
    auto of = kNoSwitch;  // the destination of `set`
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
  std::array<std::array<std::uint32_t, 256>, kLidKinds> used_{};  ///< by kind of LIDs and port
  PortRotationCache rotations_;
};

extern template class EntryRepairer<std::uint8_t>;
extern template class EntryRepairer<std::uint16_t>;

}  // namespace smd::routing::inline repair
