// SPDX-License-Identifier: Apache-2.0
#pragma once
// Searches for paths along which a multicast tree grows.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "routing/multicast/tree.h"

namespace smd::routing::inline multicast {

/// One hop of a path: out of switch `from` by `port`.
struct McStep {
  SwitchIndex from = kNoSwitch;
  PortNum port;
};

/// Scratch memory for searches in one topology, one at a time.
class McSearch {
 public:
  using Goal = std::function<bool(SwitchIndex)>;

  /// Memory for searches; references must outlive it.
  McSearch(const Topology& topology, const SwitchRanking& ranking, const McLoads& loads);

  /// The shortest and then least loaded path from one of `from` to another switch that is a goal; upwards
  /// only, or by any cable. Empty: there is none.
  std::vector<McStep> way(std::span<const SwitchIndex> from, bool upwards, const Goal& goal);
  /// The common ancestor of these switches (or one of them) with the smallest sum of distances, of equal ones
  /// the one with fewest trees. Nothing if there is none.
  std::optional<SwitchIndex> above(std::span<const SwitchIndex> all);

 private:
  struct Reached {
    std::uint32_t search = 0;  ///< number of the search that set this
    std::uint32_t hops = 0;
    std::uint64_t load = 0;
    McStep by;
  };
  void begin(std::span<const SwitchIndex> from);
  void reach(SwitchIndex s, bool upwards);
  McStep cable(SwitchIndex s, const NeighbourGroup& group) const;

  const Topology& topology_;
  const SwitchRanking& ranking_;
  const McLoads& loads_;
  std::vector<Reached> reached_;
  std::uint32_t search_ = 0;
  std::vector<SwitchIndex> level_, next_;
};

}  // namespace smd::routing::inline multicast
