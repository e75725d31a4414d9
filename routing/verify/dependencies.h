// SPDX-License-Identifier: Apache-2.0
#pragma once
// The channel dependency graph: a channel is a switch's port towards a switch; one waits for another if a
// packet may hold the first while it wants the second (Dally and Seitz, 1987). Cycles are credit loops.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "routing/topology/topology.h"
#include "routing/verify/egress_sets.h"

namespace smd::routing::inline verify {

/// For each channel the ports of the next switch that it waits for, a bit each.
class Dependencies {
 public:
  explicit Dependencies(const Topology& topology);
  /// What was found in another topology, for the ports that lead where they led there. `was`: by switch its
  /// index there.
  Dependencies(const Topology& topology, const Topology& before, std::span<const SwitchIndex> was,
               std::span<const std::uint64_t> waits);

  struct Channel {
    SwitchIndex sw = 0;
    PortNum out;
    friend bool operator==(const Channel&, const Channel&) = default;
  };
  /// One.
  void add(const Channel& channel, PortNum next);
  /// By the switch's port, from 0 on: ports of the next switch, a bit each, `words` words a port.
  void add(SwitchIndex s, std::span<const std::uint64_t> waits, std::size_t words);
  /// All that `ways` make for `lids`. `rows` are the tables that the ways were read from, the first entry
  /// being `first`; null where there are several. With `crossing` (by switch) only for the LIDs in it.
  void add(const EgressSets& egress, LidBits lids, const Routes* rows, Lid first,
           const std::vector<LidBits>* crossing);
  void merge(const Dependencies& other);
  /// After the last add: what was added for one switch of a family holds for all of it.
  void share(std::span<const SwitchIndex> equivalents);

  struct Cycles {
    std::size_t count = 0;         ///< of groups of channels, each of which waits for each other
    std::vector<Channel> example;  ///< a shortest cycle of the first
    /// Without cycles: a number for each channel, lower than those of all that it waits for.
    std::vector<std::uint32_t> order;
  };
  Cycles cycles() const;
  bool any_cycle() const;
  /// For each channel the number of the group of channels that wait for each other.
  std::vector<std::size_t> groups() const;
  /// By channel, as many words as the most ports of a switch take.
  std::vector<std::uint64_t> waits() && { return std::move(waits_); }

 private:
  std::span<const std::uint64_t> waits_of(std::size_t channel) const {
    return std::span(waits_).subspan(channel * words_, words_);
  }
  template <class Fn>
  void for_each_next(std::size_t channel, const Fn& fn) const;
  std::vector<std::uint8_t> in_cycles_or_between(std::vector<std::uint32_t>* order = nullptr) const;
  std::vector<std::size_t> shortest_cycle(std::span<const std::size_t> group) const;
  Channel channel(std::size_t index) const;

  const Topology* topology_;
  std::size_t words_;
  std::vector<std::uint64_t> waits_;
  std::vector<std::uint64_t> shared_;     ///< at a family's first: of all of it; empty until needed
  std::vector<SwitchIndex> next_switch_;  ///< by channel; kNoSwitch where it leads to no switch
};

}  // namespace smd::routing::inline verify
