// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where ports lead, as LidTile wants to look it up, and which switches are cabled alike.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "routing/topology/topology.h"

namespace smd::routing::inline verify {

class NextSwitches {
 public:
  /// Words with a bit for each port number and two more: 1, 2 or 4. 0 where a switch has more than 253 ports.
  static std::size_t words_for(const Topology& topology);

  /// Not where words_for() is 0.
  explicit NextSwitches(const Topology& topology);

  /// By port number, words_for() * 64 of them: the next switch; the number of switches where there is none.
  std::span<const std::uint32_t> next(SwitchIndex s) const {
    return std::span(next_).subspan(s * words_ * 64, words_ * 64);
  }
  /// Switches of a family have some cables to the same switch at the same port: entries of all those that
  /// stand on one level of a tree are likely to be the same. Numbers from 0 to families() - 1.
  std::size_t groups() const { return first_.size(); }
  std::uint32_t group(SwitchIndex s) const { return group_[s]; }
  /// Ports that lead where the same port of the family's first leads, a bit each.
  std::span<const std::uint64_t> as_first(SwitchIndex s) const {
    return std::span(as_first_).subspan(s * words_, words_);
  }

 private:
  void find_groups(const Topology& topology);

  std::size_t words_ = 0;
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> group_;     ///< by switch
  std::vector<SwitchIndex> first_;       ///< by family
  std::vector<std::uint64_t> as_first_;  ///< by switch
};

}  // namespace smd::routing::inline verify
