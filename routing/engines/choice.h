// SPDX-License-Identifier: Apache-2.0
#pragma once
// One switch's pick among the ports of its candidate neighbours.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "mad/base/id.h"
#include "routing/topology/topology.h"

namespace smd::routing {

/// Neighbour groups of a switch, a bit each; a switch has at most 254.
struct GroupSet {
  std::array<std::uint64_t, 4> words{};
  bool empty() const { return (words[0] | words[1] | words[2] | words[3]) == 0; }
  friend bool operator==(const GroupSet&, const GroupSet&) = default;
};

/// The ports of a set of groups, in turns: the first port of each group, then the second of each that has
/// one, so that neighbours share evenly first, and parallel cables then.
class Candidates {
 public:
  void reset(const Topology& topology, SwitchIndex s, const GroupSet& set);
  std::size_t size() const { return ports_.size(); }
  std::span<const std::uint8_t> ports() const { return ports_; }

  /// out[i] = the port of turn (number + i) / divider.
  void write_turns(std::span<std::uint8_t> out, std::uint32_t number, std::uint32_t divider);

 private:
  void write_pattern(std::span<std::uint8_t> out, std::size_t phase);

  std::vector<std::uint8_t> ports_;
  std::vector<std::uint8_t> pattern_;  ///< ports_ again and again
  std::vector<NeighbourGroup> groups_;
};

/// Fewest destinations first. Each switch begins its search at another candidate: if all began alike, what
/// arrives by one port would leave by one port.
class LeastUsed {
 public:
  explicit LeastUsed(SwitchIndex s) : turn_(s) {}
  void write(std::span<std::uint8_t> out, std::span<const std::uint8_t> ports, bool of_switch);

 private:
  std::size_t turn_;
  std::array<std::array<std::uint32_t, 256>, 2> used_{};  ///< by LIDs of end ports, of switches
};

}  // namespace smd::routing
