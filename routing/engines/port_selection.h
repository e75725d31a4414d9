// SPDX-License-Identifier: Apache-2.0
#pragma once
// Chooses among the ports to the candidate neighbours of one switch.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mad/base/id.h"
#include "routing/engines/destination_order.h"
#include "routing/ranking/switch_ranking.h"
#include "routing/ranking/tree_template.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline engines {

/// A set of neighbour groups of a switch, a bit each; a switch has at most 254.
struct GroupSet {
  std::array<std::uint64_t, 4> words{};
  /// No group is in it.
  bool empty() const { return (words[0] | words[1] | words[2] | words[3]) == 0; }
  GroupSet& operator|=(const GroupSet& other) {
    for (std::size_t w = 0; w < words.size(); ++w) words[w] |= other.words[w];
    return *this;
  }
  friend bool operator==(const GroupSet&, const GroupSet&) = default;
};

/// Number of the first group of a nonempty set.
inline std::size_t first_group(const GroupSet& set) {
  std::size_t w = 0;
  while (set.words[w] == 0) ++w;
  return w * 64 + static_cast<std::size_t>(std::countr_zero(set.words[w]));
}

/// The uplinks of the undamaged tree in round-robin order: the first cable to each upper switch, then the
/// second to each.
struct RoundRobin {
  struct Turn {
    std::uint8_t port = 0;   ///< 0: missing
    std::uint8_t group = 0;  ///< of the port
    friend bool operator==(const Turn&, const Turn&) = default;
  };
  std::vector<Turn> turns;
  /// Switches next to it in its group have cables of the same rates at the same places: a design, whose
  /// shares can be exact. Single slow cables are better relieved by moving single destinations.
  bool rates_by_design = true;
};

/// An upper switch of the undamaged tree, in the order of round robin.
struct UplinkPlace {
  SwitchIndex peer = kNoSwitch;  ///< kNoSwitch: gone
  std::size_t cables = 0;        ///< as they should be
  std::span<const PortNum> ports;
  std::uint8_t group = 0;  ///< of the ports
};

/// The upper switches of a switch: the slots of its group, then additional ones. Where there are slots, no
/// switch of its own level.
std::vector<UplinkPlace> uplink_places(const Topology& topology, const SwitchRanking& ranking,
                                       const TreeTemplate& tree_template, SwitchIndex s);

/// The round robin of a switch: the slots of its group, then additional uplinks. `only`: of uplinks to these
/// upper switches (ascending); empty: all.
RoundRobin uplink_round_robin(const Topology& topology, const SwitchRanking& ranking,
                              const TreeTemplate& tree_template, SwitchIndex s,
                              std::span<const SwitchIndex> only = {});

/// The destinations that a switch receives from below in the undamaged tree are those whose number % divider
/// is one of the residues. Counting them off tells them apart: the first of them has turn 0. After faults it
/// may receive others: each other residue starts at another turn, or all destinations of a leaf would share a
/// port.
struct DmodkIndex {
  std::uint32_t divider = 1;
  std::vector<std::uint32_t> residues{0};  ///< ascending; never empty
  friend bool operator==(const DmodkIndex&, const DmodkIndex&) = default;
};

/// The turn that the destination takes in the undamaged tree.
std::size_t turn_of(std::uint32_t number, const DmodkIndex& index, std::size_t turns);

/// Index of the port in `ports` with the lowest load relative to its rate after one more destination; of
/// equal ones the first from `first` on.
std::size_t least_used(const Topology& topology, SwitchIndex s, std::span<const std::uint8_t> ports,
                       std::span<const std::uint32_t, 256> used, std::size_t first);

/// The ports of one switch towards some destinations, in round-robin order.
class Candidates {
 public:
  /// The first port of each group, then the second of each that has one: balances neighbours first, then
  /// parallel cables. Each port once.
  void reset(const Topology& topology, SwitchIndex s, const GroupSet& set);
  /// The same, for an index with that divider. Here and below ports have turns in proportion to their rates.
  void reset(const Topology& topology, SwitchIndex s, const GroupSet& set, std::uint32_t divider);
  /// Round robin over the undamaged tree. The turns of ports that are missing or not in the set go to the
  /// others in rotation, starting at another port for each `rotation`. Returns whether there were such turns.
  bool reset(const Topology& topology, SwitchIndex s, const GroupSet& set,
             const RoundRobin& round_robin_of_tree, std::size_t rotation, std::uint32_t divider);
  std::size_t size() const { return ports_.size(); }
  std::span<const std::uint8_t> ports() const { return ports_; }

  /// out[i] = the port for destination number + i. After a reset always with the same index.
  void write(std::span<std::uint8_t> out, std::uint32_t number, const DmodkIndex& index);

 private:
  void round_robin(const Topology& topology, SwitchIndex s, const GroupSet& set,
                   std::vector<std::uint8_t>& out);
  bool rates_differ(const Topology& topology, SwitchIndex s) const;
  std::vector<std::uint8_t> exact_shares(const Topology& topology, SwitchIndex s, std::size_t rotation,
                                         std::uint32_t divider) const;
  void share_by_rate(const Topology& topology, SwitchIndex s, std::size_t rotation, std::uint32_t divider);
  std::size_t first_turn(std::uint32_t rest, const DmodkIndex& index) const;
  std::uint8_t at(std::uint32_t number, const DmodkIndex& index) const;
  void make_pattern(std::size_t period, const DmodkIndex& index);

  std::vector<std::uint8_t> ports_;
  std::vector<std::uint8_t> live_;
  std::vector<std::uint8_t> own_;      ///< by turn: its port if all rates were equal; 0: missing
  std::vector<std::uint8_t> pattern_;  ///< whole periods
  std::vector<std::size_t> first_;     ///< scratch: by remainder its first turn
  std::size_t period_ = 0;
  std::size_t written_ = 0;  ///< entries without a pattern
  bool skewed_ = false;
  std::vector<NeighbourGroup> groups_;
};

/// Chooses the port with the fewest destinations relative to its rate. Each switch starts its search at
/// another candidate: otherwise all traffic that arrives by one port would leave by one port.
class LeastUsed {
 public:
  /// For the table of one switch; `topology` outlives it.
  LeastUsed(const Topology& topology, SwitchIndex s) : topology_(topology), switch_(s) { turns_.fill(s); }
  /// Fills `out` with one of `ports` each, which must not be empty; each kind of LIDs is counted separately.
  void write(std::span<std::uint8_t> out, std::span<const std::uint8_t> ports, LidKind kind);

 private:
  const Topology& topology_;
  SwitchIndex switch_;
  std::array<std::size_t, kLidKinds> turns_{};
  std::array<std::array<std::uint32_t, 256>, kLidKinds> used_{};
};

}  // namespace smd::routing::inline engines
