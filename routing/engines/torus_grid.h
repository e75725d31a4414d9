// SPDX-License-Identifier: Apache-2.0
#pragma once
// A torus or mesh as it is cabled now, and the next hop of torus-2QoS in it.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "routing/engines/torus_axes.h"

namespace smd::routing::inline engines {

/// One of six: a dimension, up or down.
struct TorusDirection {
  std::uint8_t dimension = 0;
  bool up = true;
  /// 0 to 5: twice the dimension, and 1 more for up.
  std::size_t index() const { return 2 * std::size_t{dimension} + (up ? 1 : 0); }
};

class TorusGrid {
 public:
  /// `places`: one for each switch of the topology, no two equal. The topology must outlive it.
  TorusGrid(const Topology& topology, const TorusPlaces& places);

  /// The direction in which packets from `from` leave for `to`, another switch; nothing: there is none.
  ///
  /// Dimension by dimension, x first, the shorter way round a ring (of two equal ones that between the places
  /// without the dateline). Where that is broken, the longer one. Where the switch at which the path would
  /// turn is missing, packets go as near to it as they can and turn there, into the next dimension. The rule
  /// is that of torus-2QoS(8).
  std::optional<TorusDirection> next(SwitchIndex from, SwitchIndex to) const;

  /// Bit d: the shorter way in dimension d crosses its dateline, between the last place and the first. It
  /// does not depend on what is broken, and is the same for both directions.
  unsigned datelines(SwitchIndex a, SwitchIndex b) const;

  /// The ports of a switch that lead in a direction, in the order in which they take turns: parallel cables
  /// have one order at both ends, that of the ports below. Empty: no neighbour.
  const std::vector<PortNum>& ports(SwitchIndex s, TorusDirection to) const {
    return ports_[s * kDirections + to.index()];
  }
  /// Switches by place, x fastest.
  const std::vector<SwitchIndex>& in_order() const { return in_order_; }

 private:
  static constexpr std::size_t kDirections = 2 * kTorusDimensions;

  std::size_t index(const TorusPlace& place) const {
    return place[0] + size_[0] * (place[1] + std::size_t{size_[1]} * place[2]);
  }
  SwitchIndex at(const TorusPlace& place) const { return switch_at_[index(place)]; }
  /// The place next to it; nothing beyond the end of a path.
  std::optional<TorusPlace> beside(TorusPlace place, TorusDirection to) const;
  void connect(const Topology& topology, SwitchIndex s, TorusDirection to);
  void measure_runs(std::uint8_t dimension);
  bool shorter_is_up(std::uint32_t from, std::uint32_t to, std::uint8_t d) const;
  std::optional<TorusDirection> step(SwitchIndex from, const TorusPlace& to, std::uint8_t d) const;

  std::array<std::uint32_t, kTorusDimensions> size_;
  std::array<bool, kTorusDimensions> ring_;
  std::vector<TorusPlace> places_;      ///< by switch
  std::vector<SwitchIndex> switch_at_;  ///< by index of a place; kNoSwitch: it is missing
  std::vector<SwitchIndex> in_order_;
  std::vector<std::vector<PortNum>> ports_;  ///< by switch and direction
  std::vector<std::uint32_t> run_;           ///< the same: hops until a cable is missing, at most the size
};

}  // namespace smd::routing::inline engines
