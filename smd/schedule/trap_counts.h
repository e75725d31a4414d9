// SPDX-License-Identifier: Apache-2.0
#pragma once
// Traps by their number and by the node that they are about.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mad/base/id.h"

namespace smd::sm::inline scheduling {

/// One thread counts, without memory or a lock; any thread reads. Senders of traps are not to be trusted:
/// where kMost numbers and nodes are known, traps of others are of node 0.
class TrapCounts {
 public:
  static constexpr std::size_t kMost = 1'024;
  /// Number of traps that have no name (wire::trap).
  static constexpr std::uint16_t kOtherTrap = 0xFFFF;

  TrapCounts() = default;
  TrapCounts(const TrapCounts&) = delete;
  TrapCounts& operator=(const TrapCounts&) = delete;

  /// Counts one trap of this number, sent by `node`; 0: the sender is not known.
  void count(std::uint16_t trap, Guid node);

  struct Row {
    std::uint16_t trap = 0;  ///< kOtherTrap: all others
    Guid node{};             ///< 0: not known, or one too many
    std::uint64_t count = 0;
  };
  /// By trap and node, ascending.
  std::vector<Row> rows() const;

 private:
  /// A row is complete before its count is not 0, and stays.
  struct Place {
    std::uint16_t trap = 0;
    Guid node{};
    std::atomic<std::uint64_t> count{0};
  };
  /// Beyond kMost rows there is room for each number without a node, and for ends of searches.
  static constexpr std::size_t kPlaces = 2 * kMost;
  Place& place_of(std::uint16_t trap, Guid node);

  std::array<Place, kPlaces> places_;
  std::size_t used_ = 0;  ///< with a node
};

}  // namespace smd::sm::inline scheduling
