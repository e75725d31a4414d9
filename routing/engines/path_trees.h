// SPDX-License-Identifier: Apache-2.0
#pragma once
// One path between any two switches, as trees towards each switch; tables along them.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "routing/engines/channel_net.h"
#include "routing/routes.h"
#include "routing/topology/context.h"

namespace smd::routing::inline engines {

/// By (to, from) the neighbour group of `from` that leads on. Memory: a byte a pair.
class PathTrees {
 public:
  static constexpr std::uint8_t kNone = 255;

  explicit PathTrees(std::size_t switches) : switches_(switches), next_(switches * switches, kNone) {}
  /// The neighbour group of `from` on its path to `to`, to be written.
  std::uint8_t& next(SwitchIndex to, SwitchIndex from) { return next_[std::size_t{to} * switches_ + from]; }
  /// kNone: no path, or the switch itself.
  std::uint8_t next(SwitchIndex to, SwitchIndex from) const {
    return next_[std::size_t{to} * switches_ + from];
  }

 private:
  std::size_t switches_;
  std::vector<std::uint8_t> next_;
};

/// Calls fn(channel) along the path between two switches, as far as there is one.
template <class Fn>
void for_each_channel(const ChannelNet& net, const PathTrees& trees, SwitchIndex from, SwitchIndex to,
                      const Fn& fn) {
  while (from != to && trees.next(to, from) != PathTrees::kNone) {
    const auto c = static_cast<NetChannel>(net.first(from) + trees.next(to, from));
    fn(c);
    from = net.head(c);
  }
}

/// The switches in the order of a breadth-first search from `root` that takes ports in ascending order, and
/// the distance of each. To be used again and again.
class BreadthFirst {
 public:
  explicit BreadthFirst(const ChannelNet& net) : net_(net), hops_(net.switches()), place_(net.switches()) {}
  /// Replaces the result of the search before. O(switches and channels).
  void search(SwitchIndex root);

  static constexpr std::uint32_t kFar = ~std::uint32_t{0};
  const std::vector<SwitchIndex>& order() const { return order_; }  ///< reached ones, `root` first
  std::uint32_t hops(SwitchIndex s) const { return hops_[s]; }      ///< kFar: not reached
  std::uint32_t place(SwitchIndex s) const { return place_[s]; }    ///< in order(), of a reached one

 private:
  const ChannelNet& net_;
  std::vector<SwitchIndex> order_;
  std::vector<std::uint32_t> hops_, place_;
};

/// Towards each switch the tree of that search: in a lattice cabled dimension by dimension, dimension order.
PathTrees breadth_first_trees(const RoutingContext& in, const ChannelNet& net);

/// Each step takes the link with the lowest port of those that lead nearer, as opensm's dor does.
PathTrees lowest_port_trees(const RoutingContext& in, const ChannelNet& net);

/// Rows of all switches along the trees: the n-th LID of a port by the n-th trees, in turns. With
/// `plane_of_end` (by EndIndex) all LIDs of an end port by those, and LIDs of switches by the first. Parallel
/// cables share the LIDs by rate, each kind of LIDs by itself.
std::vector<std::shared_ptr<const LftRow>> tables_along(const RoutingContext& in,
                                                        std::span<const PathTrees> planes,
                                                        std::span<const std::uint8_t> plane_of_end = {});

}  // namespace smd::routing::inline engines
