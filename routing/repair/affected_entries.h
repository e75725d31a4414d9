// SPDX-License-Identifier: Apache-2.0
#pragma once
// Entries that a change of the fabric has made wrong, without a look at all the others.

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

/// What became of the ways. If all entries led somewhere `before`, those do so now whose port leads to the
/// same switch as before, and that can still go on as before: what a switch reaches, by going down and at
/// all, and what its neighbours reach, says so for all LIDs of a destination switch at once.
class AffectedEntries {
 public:
  AffectedEntries(const RankedFabric& before, const RankedFabric& now, std::span<const LidRun> runs,
                  const Parallel& parallel);

  /// Whether every leaf reaches every leaf and aggregation node that cables connect it with.
  bool hosts_connected() const;

  /// Scratch memory for one switch after another.
  class Finder {
   public:
    explicit Finder(const AffectedEntries& all);
    /// Wrong entries of a row of full length, ascending by LID. Valid until the next call.
    std::span<const BrokenEntry> find(SwitchIndex s, const LftRow& row);
    void begin(SwitchIndex s);
    /// Of the switch that was begun or looked at last: the groups that lead to the destination.
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
    /// By destination the groups that lead there, of the words of 64 destinations that were asked for.
    std::array<std::vector<std::uint64_t>, 4> legal_;
    std::vector<bool> known_;  ///< by word
  };

 private:
  void compare_reach(const Reach& was);
  void compare_lids(const RankedFabric& before);
  /// Of a switch: ports that led to another switch before than they do now.
  std::vector<std::uint8_t> moved_ports(const RankedFabric& before, SwitchIndex s) const;

  const RankedFabric now_;
  std::span<const LidRun> runs_;
  Reach reach_;
  std::vector<SwitchIndex> was_;            ///< by switch its index before
  std::vector<std::uint64_t> changed_;      ///< by switch: columns that it reaches otherwise than before
  std::vector<std::uint8_t> any_changed_;   ///< by switch
  std::vector<std::uint64_t> new_columns_;  ///< with LIDs that were not there, or elsewhere
  bool any_new_ = false;
  std::vector<std::vector<std::uint8_t>> moved_;  ///< by switch
  std::vector<std::uint32_t> run_base_, run_of_;  ///< by destination its runs
};

}  // namespace smd::routing::inline repair
