// SPDX-License-Identifier: Apache-2.0
#pragma once
// Copies of installed tables, to be edited entry by entry.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "routing/repair/repair.h"

namespace smd::routing::inline repair {

/// Rows by SwitchIndex, long enough for all LIDs of the fabric. What it is made of must outlive it.
class EditedRows {
 public:
  /// `old`: by SwitchIndex; null: no entries.
  EditedRows(const RoutingContext& in, std::span<const std::shared_ptr<const LftRow>> old);

  std::size_t size() const { return rows_.size(); }
  /// The entry of a LID in the row of a switch: a port number or kNoRoute. `lid` must be within the fabric's
  /// LIDs.
  std::uint8_t& at(SwitchIndex s, Lid lid) { return (*rows_[s])[lid.value()]; }
  std::uint8_t at(SwitchIndex s, Lid lid) const { return (*rows_[s])[lid.value()]; }
  /// By switch, whether the LID arrives at its own switch by the entries as they are.
  void trace(Lid lid, std::vector<bool>& arrives) const;
  /// A switch that does not arrive and needs a route to this end port; kNoSwitch: none.
  SwitchIndex lacking(const Destination& to, const std::vector<bool>& arrives) const;
  /// The tables with these layers, and how they differ from the old ones. To be called once.
  Repaired finish(const Layers& layers);

 private:
  const RoutingContext& in_;
  std::span<const std::shared_ptr<const LftRow>> old_;
  std::vector<std::shared_ptr<LftRow>> rows_;
};

}  // namespace smd::routing::inline repair
