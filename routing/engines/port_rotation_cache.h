// SPDX-License-Identifier: Apache-2.0
#pragma once
// The port rotations of one switch, one for each set of neighbours, each computed once.

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "mad/base/id.h"
#include "routing/engines/port_selection.h"
#include "routing/ranking/switch_ranking.h"
#include "routing/ranking/tree_template.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline engines {

class PortRotationCache {
 public:
  using Pick = std::uint32_t;
  static constexpr Pick kNotYet = std::numeric_limits<Pick>::max();

  /// Starts switch `s` and discards the rotations of the switch before. Without an index only ports() may be
  /// used.
  void begin(const Topology& topology, SwitchIndex s);
  /// Round robin over the existing ports.
  void begin(const Topology& topology, SwitchIndex s, const DmodkIndex& index);
  /// Round robin upwards over the ports of the undamaged tree.
  void begin(const Topology& topology, SwitchIndex s, const DmodkIndex& index, const SwitchRanking& ranking,
             const TreeTemplate& tree_template);

  /// The rotation over a set that is not empty.
  Pick find(const GroupSet& set);
  /// The ports among which the rotation alternates. `pick` is of find(), since the last begin().
  std::span<const std::uint8_t> ports(Pick pick) const { return cached_[pick].candidates.ports(); }
  /// out[i] = the port for destination number + i.
  void write(Pick pick, std::span<std::uint8_t> out, std::uint32_t number) {
    cached_[pick].candidates.write(out, number, index_);
  }
  /// Whether missing ports had to be substituted since begin().
  bool substituted() const { return substituted_; }

 private:
  struct Cached {
    GroupSet set;
    Candidates candidates;
  };
  void make(const GroupSet& set, Candidates& candidates);
  const RoundRobin& round_robin_for(const GroupSet& set) const;
  void grow();
  std::size_t slot(const GroupSet& set) const;

  const Topology* topology_ = nullptr;
  SwitchIndex switch_ = 0;
  DmodkIndex index_;
  bool in_turns_ = false;
  const SwitchRanking* ranking_ = nullptr;
  std::size_t rotation_ = 0;
  RoundRobin round_robin_;
  std::span<const std::vector<SwitchIndex>> shared_;  ///< of the group of the switch
  std::vector<RoundRobin> to_generation_;             ///< for each of these
  bool substituted_ = false;
  std::vector<Cached> cached_;  ///< the first `count_` are in use
  std::size_t count_ = 0;
  std::vector<Pick> table_;  ///< by hash of the set
};

}  // namespace smd::routing::inline engines
