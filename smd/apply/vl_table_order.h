// SPDX-License-Identifier: Apache-2.0
#pragma once
// SL to VL and VL arbitration tables of a port rest on each other: a Set that was not taken holds back those
// after it, by which an SL in use would have a VL without turns.

#include <array>
#include <map>
#include <optional>
#include <utility>

#include "smd/apply/applied.h"
#include "smd/decide/qos_shares.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline applying {

/// Of one plan. On the thread that applies it.
class VlTableOrder {
 public:
  /// `subnet`, as it was before the plan, outlives this.
  explicit VlTableOrder(const Subnet& subnet) : subnet_(subnet) {}

  /// What became of a Set. Of other tables: nothing to note.
  void note(const TableAnswer<wire::VlArbitration>& answer);
  void note(const TableAnswer<wire::SlToVl>& answer);
  template <class A>
  void note(const TableAnswer<A>& /*answer*/) {}

  /// Whether the Set is to be left out of this plan; what is written after it knows then that it was. SL to
  /// VL: the port has not taken its arbitration, and SLs would move to VLs that have no turn as far as is
  /// known. One Set for all ports of a switch waits for each of them. Arbitration without the VLs that were
  /// left: the port has not taken its SL to VL table, so that SLs have these VLs still.
  bool waits(const TableItem<wire::SlToVl>& item, Phase phase);
  bool waits(const TableItem<wire::VlArbitration>& item, Phase phase) const;
  template <class A>
  bool waits(const TableItem<A>& /*item*/, Phase /*phase*/) const {
    return false;
  }

 private:
  static constexpr std::size_t kBlocks = 4;
  using Place = std::pair<NodeIndex, PortNum>;
  struct State {
    std::array<std::optional<VlSet>, kBlocks>
        turns{};                                      ///< of blocks that were Set; none in one without answer
    bool kept_arbitration = false, kept_map = false;  ///< a Set was not taken
  };

  VlSet turns_of(const Place& place, const State& state) const;
  VlSet new_vls(const TableItem<wire::SlToVl>& item) const;
  void note_kept_map(NodeIndex node, PortNum port, std::size_t block);

  const Subnet& subnet_;
  std::map<Place, State> ports_;
};

}  // namespace smd::sm::inline applying
