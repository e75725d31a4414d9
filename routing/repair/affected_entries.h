// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds the entries that a change of the fabric has broken, without examining all others.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "routing/engines/destination_order.h"
#include "routing/engines/port_selection.h"
#include "routing/repair/reach.h"
#include "routing/repair/repair_entries.h"
#include "routing/topology/lids.h"

namespace smd::routing::inline repair {

/// A fabric, its LIDs, and which end of each link is up.
struct RankedFabric {
  const Topology& topology;
  const LidMap& lids;
  const SwitchRanking& ranking;
};

/// Compares reachability before and now. If all entries were right `before`, an entry is still right if its
/// port leads to the same switch and that switch still has a path: the sets of destinations that a switch and
/// its neighbours reach, downwards and at all, decide this for all LIDs of a destination switch at once.
class AffectedEntries {
 public:
  /// `runs`: LIDs of `now` by destination; references must outlive it.
  AffectedEntries(const RankedFabric& before, const RankedFabric& now, std::span<const LidRun> runs,
                  const Parallel& parallel);

  /// Whether every leaf reaches every connected leaf.
  bool hosts_connected() const;

  /// Scratch memory for one switch after another.
  class Finder {
   public:
    /// Scratch memory; `all` must outlive it.
    explicit Finder(const AffectedEntries& all);
    /// Broken entries of a row of full length, ascending by LID. Valid until the next call.
    std::span<const BrokenEntry> find(SwitchIndex s, const LftRow& row);
    /// Selects a switch for legal().
    void begin(SwitchIndex s);
    /// For the switch of the last begin() or find(): the neighbour groups that lead to the destination.
    GroupSet legal(SwitchIndex destination);

   private:
    bool affected_columns(SwitchIndex s);
    void find_by_ports(SwitchIndex s, const LftRow& row);
    void find_by_columns(const LftRow& row);
    void check(const LftRow& row, std::size_t lid, const LidRun& run, const GroupSet& set);
    bool good(std::uint8_t port, SwitchIndex to, std::size_t lid, const GroupSet& set) const;
    void find_legal(std::size_t word);

    const AffectedEntries& all_;
    SwitchIndex switch_ = 0;
    std::array<std::uint8_t, 256> group_of_{};
    std::vector<std::uint64_t> columns_;
    std::vector<BrokenEntry> broken_, merged_;
    /// By destination the groups that lead there, for the words of 64 destinations requested so far.
    std::array<std::vector<std::uint64_t>, 4> legal_;
    std::vector<bool> known_;  ///< by word
  };

 private:
  void compare_reach(const Reach& was);
  void compare_lids(const RankedFabric& before);
  /// Ports of a switch that led to another switch before.
  std::vector<std::uint8_t> moved_ports(const RankedFabric& before, SwitchIndex s) const;

  const RankedFabric now_;
  std::span<const LidRun> runs_;
  Reach reach_;
  std::vector<SwitchIndex> was_;            ///< by switch: its index before
  std::vector<std::uint64_t> changed_;      ///< by switch: columns whose reach changed
  std::vector<std::uint8_t> any_changed_;   ///< by switch
  std::vector<std::uint64_t> new_columns_;  ///< columns with new or moved LIDs
  bool any_new_ = false;
  std::vector<std::vector<std::uint8_t>> moved_;  ///< by switch
  std::vector<std::uint32_t> run_base_, run_of_;  ///< by destination: its runs
};

}  // namespace smd::routing::inline repair
