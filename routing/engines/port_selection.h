// SPDX-License-Identifier: Apache-2.0
#pragma once
// One switch's pick among the ports of its candidate neighbours.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mad/base/id.h"
#include "routing/ranking/switch_ranking.h"
#include "routing/ranking/tree_template.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline engines {

/// Neighbour groups of a switch, a bit each; a switch has at most 254.
struct GroupSet {
  std::array<std::uint64_t, 4> words{};
  bool empty() const { return (words[0] | words[1] | words[2] | words[3]) == 0; }
  GroupSet& operator|=(const GroupSet& other) {
    for (std::size_t w = 0; w < words.size(); ++w) words[w] |= other.words[w];
    return *this;
  }
  friend bool operator==(const GroupSet&, const GroupSet&) = default;
};

/// The number of the first group of a set that is not empty.
inline std::size_t first_group(const GroupSet& set) {
  std::size_t w = 0;
  while (set.words[w] == 0) ++w;
  return w * 64 + static_cast<std::size_t>(std::countr_zero(set.words[w]));
}

/// Ports upwards as the whole tree has them: the first cable to each switch above, then the second of each.
struct RoundRobin {
  struct Turn {
    std::uint8_t port = 0;   ///< 0: missing
    std::uint8_t group = 0;  ///< of the port
    friend bool operator==(const Turn&, const Turn&) = default;
  };
  std::vector<Turn> turns;
};

/// Those of a switch: its family's slots, then what it has beyond them.
RoundRobin uplink_round_robin(const Topology& topology, const SwitchRanking& ranking,
                              const TreeTemplate& tree_template, SwitchIndex s);

/// Which destinations a switch gets from below in the whole tree, and how it tells them apart: those with
/// number % divider == residue, by number / divider. What is missing may bring it others; each other residue
/// begins its turns one further, or all of a leaf would leave by one port.
struct DmodkIndex {
  std::uint32_t divider = 1;
  std::uint32_t residue = 0;
  friend bool operator==(const DmodkIndex&, const DmodkIndex&) = default;
};

/// Which of `turns` the destination takes in the whole tree.
inline std::size_t turn_of(std::uint32_t number, const DmodkIndex& index, std::size_t turns) {
  const auto rest = number % index.divider;
  const auto skew = (rest + index.divider - index.residue) % index.divider;
  return (number / index.divider + skew) % turns;
}

/// Which of `ports` carries least for its rate with one more destination; of equals the first from `first`
/// on.
std::size_t least_used(const Topology& topology, SwitchIndex s, std::span<const std::uint8_t> ports,
                       std::span<const std::uint32_t, 256> used, std::size_t first);

/// The ports that one switch has towards some destinations, in the order in which they take turns.
class Candidates {
 public:
  /// The first port of each group, then the second of each that has one: neighbours share evenly first, and
  /// parallel cables then. Each port once.
  void reset(const Topology& topology, SwitchIndex s, const GroupSet& set);
  /// In such turns, for a step with that divider. Here and below a port has as many turns as is its rate's
  /// share: the slower ones leave some of theirs to the others.
  void reset(const Topology& topology, SwitchIndex s, const GroupSet& set, std::uint32_t divider);
  /// In the turns of the whole tree: those of a port that is missing, or not in the set, are shared by the
  /// others, each time by the next one, beginning at another one for each `rotation`. Returns whether that
  /// had to be done.
  bool reset(const Topology& topology, SwitchIndex s, const GroupSet& set,
             const RoundRobin& round_robin_of_tree, std::size_t rotation, std::uint32_t divider);
  std::size_t size() const { return ports_.size(); }
  std::span<const std::uint8_t> ports() const { return ports_; }

  /// out[i] = the port whose turn it is for destination number + i. Always with the same step after a reset.
  void write(std::span<std::uint8_t> out, std::uint32_t number, const DmodkIndex& index);

 private:
  void round_robin(const Topology& topology, SwitchIndex s, const GroupSet& set,
                   std::vector<std::uint8_t>& out);
  bool rates_differ(const Topology& topology, SwitchIndex s) const;
  void share_by_rate(const Topology& topology, SwitchIndex s, std::size_t rotation, std::uint32_t divider);
  std::uint8_t at(std::uint32_t number, const DmodkIndex& index) const;
  void make_pattern(std::size_t period, const DmodkIndex& index);

  std::vector<std::uint8_t> ports_;
  std::vector<std::uint8_t> live_;
  std::vector<std::uint8_t> own_;      ///< whose turn it would be if all were alike; 0: a missing one's
  std::vector<std::uint8_t> pattern_;  ///< whole periods
  std::size_t period_ = 0;
  bool skewed_ = false;
  std::vector<NeighbourGroup> groups_;
};

/// Fewest destinations for its rate first. Each switch begins its search at another candidate: if all began
/// alike, what arrives by one port would leave by one port.
class LeastUsed {
 public:
  LeastUsed(const Topology& topology, SwitchIndex s) : topology_(topology), switch_(s), turn_(s) {}
  void write(std::span<std::uint8_t> out, std::span<const std::uint8_t> ports, bool of_switch);

 private:
  const Topology& topology_;
  SwitchIndex switch_;
  std::size_t turn_;
  std::array<std::array<std::uint32_t, 256>, 2> used_{};  ///< by LIDs of end ports, of switches
};

}  // namespace smd::routing::inline engines
