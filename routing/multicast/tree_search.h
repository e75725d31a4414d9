// SPDX-License-Identifier: Apache-2.0
#pragma once
// Searches for the way by which a multicast tree grows.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "routing/multicast/tree.h"

namespace smd::routing::inline multicast {

/// One step of a way: out of this switch by this port.
struct McStep {
  SwitchIndex from = kNoSwitch;
  PortNum port;
};

/// Scratch memory of searches over one topology; one search at a time.
class McSearch {
 public:
  using Goal = std::function<bool(SwitchIndex)>;

  McSearch(const Topology& topology, const SwitchRanking& ranking, const McLoads& loads);

  /// The shortest and then least loaded way from one of `from` to a switch that is a goal and none of them;
  /// upwards only, or by any cable. Empty: there is none.
  std::vector<McStep> way(std::span<const SwitchIndex> from, bool upwards, const Goal& goal);
  /// The switch above all of these (or one of them) that is nearest to them together, among equals the one
  /// with fewest trees. Nothing where none is above all.
  std::optional<SwitchIndex> above(std::span<const SwitchIndex> all);

 private:
  struct Reached {
    std::uint32_t search = 0;  ///< which search has set this
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
