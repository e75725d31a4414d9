// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which channels wait for which, grown without closing a cycle.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "routing/topology/topology.h"

namespace smd::routing::inline repair {

/// The dependencies of channels, grown step by step. The topology must outlive it.
class GrowingWaits {
 public:
  /// None yet.
  explicit GrowingWaits(const Topology& topology);

  /// A packet that leaves `s` by `out` leaves the next switch by `then`: added whatever it closes.
  void add(SwitchIndex s, std::uint8_t out, std::uint8_t then) {
    waits_[word(s, out, then)] |= std::uint64_t{1} << (then % 64U);
  }
  /// Removes that dependency; nothing happens where it is not there.
  void remove(SwitchIndex s, std::uint8_t out, std::uint8_t then) {
    waits_[word(s, out, then)] &= ~(std::uint64_t{1} << (then % 64U));
  }
  /// Whether that dependency was added and not removed since.
  bool has(SwitchIndex s, std::uint8_t out, std::uint8_t then) const {
    return (waits_[word(s, out, then)] >> (then % 64U) & 1U) != 0;
  }
  /// False, and nothing is added, if it would close a cycle.
  bool try_add(SwitchIndex s, std::uint8_t out, std::uint8_t then);

 private:
  struct Channel {
    SwitchIndex sw = 0;
    std::uint8_t out = 0;
  };
  std::size_t word(SwitchIndex s, std::uint8_t out, std::uint8_t then) const {
    return topology_->channel(s, PortNum{out}) * words_ + then / 64U;
  }
  bool leads(Channel from, std::size_t to);

  const Topology* topology_;
  std::size_t words_ = 1;
  std::vector<std::uint64_t> waits_;  ///< by channel
  std::vector<std::uint32_t> seen_;
  std::uint32_t epoch_ = 0;
  std::vector<Channel> open_;
};

}  // namespace smd::routing::inline repair
