// SPDX-License-Identifier: Apache-2.0
#pragma once
// Some LIDs of all tables side by side, where no packet's way is followed: each step of it is looked at
// alone.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "routing/routes.h"
#include "routing/topology/lids.h"
#include "routing/topology/topology.h"
#include "routing/verify/block_lids.h"
#include "routing/verify/dependencies.h"
#include "routing/verify/fault_counts.h"
#include "routing/verify/next_switches.h"

namespace smd::routing::inline verify {

/// Scratch memory for one tile after another. Finds out for each (switch, LID) that has an entry whether that
/// leads to the LID's own port, or to a switch that has an entry for the LID, too; and by which of its ports
/// that one goes on. `kWords` as Cabling::words().
///
/// Where that holds for all of them and the dependencies of channels close no cycle, every packet arrives: it
/// never comes to a switch without an entry, nor to the same channel twice, so it ends, and it can end at
/// its destination only.
template <std::size_t kWords>
class LidTile {
 public:
  static constexpr std::size_t kBlocks = 2;
  static constexpr std::size_t kLids = kBlocks * 64;

  LidTile(const Topology& topology, const LidMap& lids, const Routes& routes,
          const NextSwitches& next_switches);

  /// LIDs number * kLids and on: adds to `graph` what they make wait for what, and to `found` what has no
  /// entry. False where an entry leads elsewhere, or where hosts need one that is not there; both are of no
  /// use then.
  bool add(std::size_t number, Dependencies& graph, Verification& found);

 private:
  static constexpr std::size_t kBits = kWords * 64;
  // In place of ports, of which no switch has so many.
  static constexpr std::uint8_t kNone = kBits - 1;  ///< no entry
  static constexpr std::uint8_t kHere = kBits - 2;  ///< the entry leads to the LID's own port

  struct PortUsage {
    SwitchIndex last = kNoSwitch;              ///< the one looked at last, in this tile
    std::array<std::uint64_t, kWords> used{};  ///< its ports that occur
    std::vector<std::uint64_t> waits;          ///< by its ports: those of the next switch
  };

  std::uint8_t* row(SwitchIndex s) { return entries_.data() + s * kLids; }
  bool load(std::size_t number);
  bool load(SwitchIndex s);
  bool mark_destinations();
  bool look(SwitchIndex s, PortUsage& group);
  bool same_as_last(SwitchIndex s, const PortUsage& group);
  void tally(Verification& found);

  const Topology& topology_;
  const LidMap& lids_;
  const Routes& routes_;
  const NextSwitches& next_switches_;
  std::vector<BlockLids> blocks_;
  std::array<std::uint8_t, kLids> unassigned_{};  ///< 255 at LIDs that are nobody's, else 0
  std::vector<std::uint8_t> entries_;             ///< kLids by switch; one more switch that has none
  std::vector<std::array<LidBits, kBlocks>> routed_;
  std::vector<PortUsage> groups_;
  FaultCounts count_;
};

extern template class LidTile<1>;
extern template class LidTile<2>;
extern template class LidTile<4>;

}  // namespace smd::routing::inline verify
