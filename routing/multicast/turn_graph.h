// SPDX-License-Identifier: Apache-2.0
#pragma once
// The channel dependency graph of layer 0 while turns of multicast trees are put into it, kept free of
// cycles.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "routing/routes.h"
#include "routing/topology/online_order.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline multicast {

/// A packet comes into a switch from a switch by one port, and leaves for a switch by another.
struct McTurn {
  SwitchIndex at = kNoSwitch;
  PortNum in, out;
};

/// VLs of layer 0 that packets of a channel may be on before it turns, and the VL after the turn: 0 unless
/// VLs depend on ports. A bit for each of the first.
struct McTurnVls {
  unsigned before = 1;
  unsigned after = 0;
};
/// The VLs of a turn by the VL map. Pure.
McTurnVls vls_of(const Topology& topology, const VlMap& vls, const McTurn& turn);

class TurnGraph {
 public:
  /// `waits`: those of Dependencies; `places`: Dependencies::Cycles::order of them. The first two must
  /// outlive it.
  TurnGraph(const Topology& topology, const VlMap& vls, std::vector<std::uint64_t> waits,
            std::vector<std::uint32_t> places);

  /// Adds the dependencies of these turns, all or none: false if they would close a cycle.
  bool add(std::span<const McTurn> turns);

 private:
  using Node = OnlineOrder::Node;
  struct Edge {
    Node from = 0, to = 0;
    std::size_t bit = 0;  ///< of `to` in the row of `from`
  };
  bool insert(const Edge& edge);
  bool waits(Node from, std::size_t bit) const {
    return (waits_[from * words_ + bit / 64] >> bit % 64 & 1U) != 0;
  }
  template <class Fn>
  void for_each_after(Node node, const Fn& fn) const;
  template <class Fn>
  void for_each_before(Node node, const Fn& fn) const;

  const Topology* topology_;
  const VlMap* map_;
  std::size_t vls_, words_;
  std::vector<std::uint64_t> waits_;  ///< by channel and VL: ports and VLs of the next switch
  std::vector<SwitchIndex> tail_;     ///< by channel
  std::vector<std::uint32_t> first_;  ///< by channel the first node of the next switch, or kNone
  OnlineOrder order_;
  std::vector<Edge> added_;
};

}  // namespace smd::routing::inline multicast
