// SPDX-License-Identifier: Apache-2.0
#pragma once
// The switch behind each port, in the form that LidTile needs, and switches with similar cabling.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "routing/topology/topology.h"

namespace smd::routing::inline verify {

class NextSwitches {
 public:
  /// Number of 64-bit words with a bit per port number and two more: 1, 2 or 4. 0 if a switch has more than
  /// 253 ports.
  static std::size_t words_for(const Topology& topology);

  /// Copies what it needs of the topology. Requires words_for() != 0.
  explicit NextSwitches(const Topology& topology);

  /// By port number, words_for() * 64 of them: the next switch, or the number of switches if there is none.
  std::span<const std::uint32_t> next(SwitchIndex s) const {
    return std::span(next_).subspan(s * words_ * 64, words_ * 64);
  }
  /// Switches of a group have some cables to the same switch at the same port: entries of those on one level
  /// of a tree are likely to be equal. Groups are numbered from 0 to groups() - 1.
  std::size_t groups() const { return first_.size(); }
  std::uint32_t group(SwitchIndex s) const { return group_[s]; }  ///< of the switch
  /// Ports that lead to the same switch as that port of the group's first switch, a bit each.
  std::span<const std::uint64_t> as_first(SwitchIndex s) const {
    return std::span(as_first_).subspan(s * words_, words_);
  }

 private:
  void find_groups(const Topology& topology);

  std::size_t words_ = 0;
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> group_;     ///< by switch
  std::vector<SwitchIndex> first_;       ///< by group
  std::vector<std::uint64_t> as_first_;  ///< by switch
};

}  // namespace smd::routing::inline verify
