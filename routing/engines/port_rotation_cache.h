// SPDX-License-Identifier: Apache-2.0
#pragma once
// The turns of one switch towards all the sets of neighbours that it has, each made once.

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

  /// Of switch `s`; forgets those of the one before. Nothing but ports() is asked for.
  void begin(const Topology& topology, SwitchIndex s);
  /// In turns of what is there.
  void begin(const Topology& topology, SwitchIndex s, const DmodkIndex& index);
  /// With turns upwards as in the tree that the fabric was built as.
  void begin(const Topology& topology, SwitchIndex s, const DmodkIndex& index, const SwitchRanking& ranking,
             const TreeTemplate& tree_template);

  /// The turns among a set that is not empty.
  Pick find(const GroupSet& set);
  std::span<const std::uint8_t> ports(Pick pick) const { return cached_[pick].candidates.ports(); }
  /// out[i] = the port whose turn it is for destination number + i.
  void write(Pick pick, std::span<std::uint8_t> out, std::uint32_t number) {
    cached_[pick].candidates.write(out, number, index_);
  }
  /// Whether ports that are missing had to be made up for since begin().
  bool substituted() const { return substituted_; }

 private:
  struct Cached {
    GroupSet set;
    Candidates candidates;
  };
  void make(const GroupSet& set, Candidates& candidates);
  void grow();
  std::size_t slot(const GroupSet& set) const;

  const Topology* topology_ = nullptr;
  SwitchIndex switch_ = 0;
  DmodkIndex index_;
  bool in_turns_ = false;
  const SwitchRanking* ranking_ = nullptr;
  std::size_t rotation_ = 0;
  RoundRobin round_robin_;
  bool substituted_ = false;
  std::vector<Cached> cached_;  ///< the first `count_` are in use
  std::size_t count_ = 0;
  std::vector<Pick> table_;  ///< by hash of the set
};

}  // namespace smd::routing::inline engines
