// SPDX-License-Identifier: Apache-2.0
#pragma once
// 128 LIDs of all tables at a time, checked hop by hop without tracing paths.

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

/// Checks for each (switch, LID) with an entry that it leads to the LID's own port, or to a switch with an
/// entry for the LID; and records the output port there. `kWords` as NextSwitches::words_for().
///
/// If that holds for all of them and the dependencies of channels are acyclic, every packet arrives: it never
/// comes to a switch without an entry nor to the same channel twice, so it ends, and it can only end at its
/// destination.
template <std::size_t kWords>
class LidTile {
 public:
  static constexpr std::size_t kBlocks = 2;
  static constexpr std::size_t kLids = kBlocks * 64;

  /// References must outlive it.
  LidTile(const Topology& topology, const LidMap& lids, const Routes& routes,
          const NextSwitches& next_switches);

  /// LIDs from number * kLids on: adds their dependencies to `graph` and missing entries to `found`. False if
  /// an entry leads elsewhere or a required one is missing; then both are of no use.
  bool add(std::size_t number, Dependencies& graph, Verification& found);

 private:
  static constexpr std::size_t kBits = kWords * 64;
  // Special values in place of port numbers, which no switch has.
  static constexpr std::uint8_t kNone = kBits - 1;  ///< no entry
  static constexpr std::uint8_t kHere = kBits - 2;  ///< the entry leads to the LID's own port

  struct PortUsage {
    SwitchIndex last = kNoSwitch;              ///< the last one examined in this tile
    std::array<std::uint64_t, kWords> used{};  ///< its ports that occur
    std::vector<std::uint64_t> waits;          ///< by its ports: ports of the next switch
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
  std::array<std::uint8_t, kLids> unassigned_{};  ///< 255 at unassigned LIDs, else 0
  std::vector<std::uint8_t> entries_;             ///< kLids per switch; one more switch without entries
  std::vector<std::array<LidBits, kBlocks>> routed_;
  std::vector<PortUsage> groups_;
  FaultCounts count_;
};

extern template class LidTile<1>;
extern template class LidTile<2>;
extern template class LidTile<4>;

}  // namespace smd::routing::inline verify
