// SPDX-License-Identifier: Apache-2.0
#pragma once
// The directed links between neighbours, as numbers: parallel cables are one link.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "routing/topology/topology.h"

namespace smd::routing::inline engines {

using NetChannel = std::uint32_t;  ///< index of (switch, neighbour group)

/// Two channels of which a path takes one after the other; `index` numbers all pairs that can follow each
/// other.
struct ChannelPair {
  NetChannel from = 0, to = 0;
  std::uint32_t index = 0;
};

/// Immutable. Keeps no reference to the Topology.
class ChannelNet {
 public:
  explicit ChannelNet(const Topology& topology);

  /// Switches and channels of the topology; channels are 0 to size() - 1.
  std::size_t switches() const { return first_.size() - 1; }
  std::size_t size() const { return head_.size(); }
  /// The channels that leave `s` are first(s) to first(s + 1) - 1, in the order of its neighbour groups.
  NetChannel first(SwitchIndex s) const { return first_[s]; }
  /// How many channels leave `s`.
  std::size_t degree(SwitchIndex s) const { return first_[s + 1] - first_[s]; }
  SwitchIndex head(NetChannel c) const { return head_[c]; }       ///< the switch that it leads to
  NetChannel reverse(NetChannel c) const { return reverse_[c]; }  ///< the same cables, other direction
  /// All channels that leave `s`, by the lowest port of each: dimension by dimension, where a lattice is
  /// cabled so.
  std::span<const NetChannel> by_port(SwitchIndex s) const {
    return std::span(by_port_).subspan(first_[s], degree(s));
  }
  /// Number of pairs of channels that can follow each other.
  std::size_t pairs() const { return pairs_; }
  /// `to` leaves the head of `from`.
  ChannelPair pair(NetChannel from, NetChannel to) const {
    return {from, to, pair_base_[from] + (to - first_[head_[from]])};
  }

 private:
  std::vector<NetChannel> first_;
  std::vector<SwitchIndex> head_;
  std::vector<NetChannel> reverse_, by_port_;
  std::vector<std::uint32_t> pair_base_;
  std::size_t pairs_ = 0;
};

}  // namespace smd::routing::inline engines
