// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds the neighbours of a switch that are one hop nearer to each destination.

#include <concepts>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "routing/engines/port_selection.h"
#include "routing/ranking/costs.h"
#include "routing/ranking/switch_ranking.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline engines {

/// Costs to some of the switches, and the ranking that they follow (null: shortest paths).
template <std::unsigned_integral Cost>
struct Columns {
  const Costs<Cost>* costs = nullptr;
  const SwitchRanking* ranking = nullptr;
  std::span<const SwitchIndex> destinations;
};

inline constexpr std::uint32_t kNoColumn = ~std::uint32_t{0};

/// By switch its position in `destinations`; kNoColumn if it is not in there.
std::vector<std::uint32_t> columns_by_switch(const Topology& topology,
                                             std::span<const SwitchIndex> destinations);

/// Consecutive columns with the same candidate neighbours: from the end of the segment before up to `end`.
struct Segment {
  std::uint32_t end = 0;
  GroupSet set;
};

/// Scratch memory for one switch after another. Columns are numbered consecutively over all parts.
template <std::unsigned_integral Cost>
class NextHops {
 public:
  /// `equivalents`: by switch the first switch with the same costs, except towards these two.
  NextHops(const Topology& topology, std::span<const Columns<Cost>> parts,
           std::span<const SwitchIndex> equivalents);

  std::size_t columns() const { return columns_; }
  /// Of a destination of one of the parts, below columns(); of other switches no valid column.
  std::uint32_t column(SwitchIndex destination) const { return column_of_[destination]; }
  /// Segments of all columns, in order. Valid until the next call.
  std::span<const Segment> of(SwitchIndex s);
  /// The candidates of `s` towards one destination; empty if it has no column or no path.
  GroupSet towards(SwitchIndex s, SwitchIndex destination) const;

 private:
  struct Member {
    std::uint8_t group = 0;
    SwitchIndex peer = 0;
  };
  /// Neighbours with the same costs, except towards each other.
  struct EquivalentPeers {
    bool up = false;
    GroupSet groups;
    std::vector<Member> members;
  };
  /// A column whose destination is one of several equivalent peers: needs a closer look.
  struct Odd {
    std::uint32_t column = 0;
    std::uint32_t peer_set = 0, member = 0;
  };
  void find_peer_sets(SwitchIndex s, const Columns<Cost>& part);
  void set_targets(SwitchIndex s, const Columns<Cost>& part);
  void mark(const Columns<Cost>& part);
  void emit(const Columns<Cost>& part, std::uint32_t first);
  bool nearer(const Columns<Cost>& part, const EquivalentPeers& peers, SwitchIndex peer,
              std::size_t column) const;
  void emit_word(std::size_t w, std::uint32_t columns, std::uint32_t first, bool ends_one);
  GroupSet set_at(const Odd& odd, const Columns<Cost>& part) const;

  const Topology& topology_;
  std::span<const Columns<Cost>> parts_;
  std::span<const SwitchIndex> equivalents_;
  std::vector<std::uint32_t> column_of_;
  std::size_t columns_ = 0;
  std::vector<Cost> down_target_, up_target_;
  std::vector<EquivalentPeers> peer_sets_;
  std::size_t peer_sets_used_ = 0;
  std::vector<std::uint64_t> bits_;   ///< by set of peers: a bit per column
  std::vector<std::uint64_t> edges_;  ///< columns where any of them changes, a bit each
  std::size_t words_ = 0;
  std::vector<Odd> odd_;
  std::vector<Segment> segments_;
};

extern template class NextHops<std::uint8_t>;
extern template class NextHops<std::uint16_t>;

}  // namespace smd::routing::inline engines
