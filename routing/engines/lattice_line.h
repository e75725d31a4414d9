// SPDX-License-Identifier: Apache-2.0
#pragma once
// Paths within one line of a lattice that close no cycle of channels.

#include <cstdint>
#include <span>
#include <vector>

#include "routing/engines/port_selection.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline engines {

/// Up and then down by an order of the line's switches: by hops from a root, then by the order of `members`.
/// On paths and complete graphs these are the shortest paths. On a ring they are all but those through the
/// switch farthest from the root. A complete graph without some of its cables keeps a path for every pair.
class LatticeLine {
 public:
  /// `at` gives by switch of the line its place in `members`, and anything for others, whose line is another
  /// by `line_of`. `root` is a place. All outlive the object.
  LatticeLine(const Topology& topology, std::span<const SwitchIndex> members,
              std::span<const std::uint32_t> line_of, std::span<const std::uint32_t> at, std::size_t root);

  /// Selects the destination, a place. O(cables of the line).
  void towards(std::uint32_t place);
  /// The neighbour groups of the switch at `place` that are next on a path; empty: none, or the destination
  /// itself.
  GroupSet next(std::uint32_t place) const;

 private:
  struct Neighbour {
    std::uint32_t place = 0;
    std::uint8_t group = 0;
  };
  static constexpr std::uint32_t kFar = ~std::uint32_t{0};
  std::span<const Neighbour> neighbours(std::uint32_t place) const {
    return std::span(neighbours_).subspan(base_[place], base_[place + 1] - base_[place]);
  }
  void rank(std::size_t root);

  std::vector<Neighbour> neighbours_;
  std::vector<std::uint32_t> base_;
  std::vector<std::uint32_t> order_;  ///< places, the root first
  std::vector<std::uint32_t> rank_;   ///< by place: its position in order_
  std::vector<std::uint32_t> down_;   ///< by place: hops by moves down only
  std::vector<std::uint32_t> any_;    ///< hops
  bool wide_ = false;                 ///< no switch has more than two hops
};

}  // namespace smd::routing::inline engines
