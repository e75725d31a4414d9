// SPDX-License-Identifier: Apache-2.0
#pragma once
// The channel dependency graph (Dally and Seitz, 1987). A channel is a switch's port towards a switch. It
// waits for another channel if a packet may hold the first while it requests the second. Cycles are credit
// loops.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "routing/topology/topology.h"
#include "routing/verify/egress_sets.h"

namespace smd::routing::inline verify {

/// By channel the ports of the next switch that it waits for, a bit each. With several VLs each VL of a port
/// is a channel of its own, and of the functions that add dependencies only those with VLs may be called.
class Dependencies {
 public:
  /// No dependencies yet; the topology must outlive it.
  explicit Dependencies(const Topology& topology, unsigned vls = 1);
  /// Takes over the dependencies of another topology, for ports that lead to the same place. `was`: by switch
  /// its index there.
  Dependencies(const Topology& topology, const Topology& before, std::span<const SwitchIndex> was,
               std::span<const std::uint64_t> waits);

  struct Channel {
    SwitchIndex sw = 0;
    PortNum out;
    friend bool operator==(const Channel&, const Channel&) = default;
  };
  /// Adds one dependency.
  void add(const Channel& channel, PortNum next);
  /// The same between VLs of the two, each below `vls`; of one VL it is 0.
  void add(const Channel& channel, unsigned vl, PortNum next, unsigned next_vl);
  /// Whether the graph has this dependency. VLs as in add().
  bool contains(const Channel& channel, unsigned vl, PortNum next, unsigned next_vl) const;
  /// Removes it; nothing happens where it is not there.
  void remove(const Channel& channel, unsigned vl, PortNum next, unsigned next_vl);
  /// Adds those of all ports of a switch, from port 0 on: the ports of the next switch, a bit each, `words`
  /// words per port.
  void add(SwitchIndex s, std::span<const std::uint64_t> waits, std::size_t words);
  /// Adds the dependencies of `lids` by `egress`. `rows` are the tables behind `egress`, which begins at LID
  /// `first`; null if there are several. With `crossing` (by switch) only for the LIDs in it.
  void add(const EgressSets& egress, LidBits lids, const Routes* rows, Lid first,
           const std::vector<LidBits>* crossing);
  /// Adds all dependencies of `other`, of the same topology.
  void merge(const Dependencies& other);
  /// After the last add: what was added for one switch of a group of equivalents holds for all of it.
  void share(std::span<const SwitchIndex> equivalents);

  struct Cycles {
    std::size_t count = 0;         ///< number of groups of channels that wait for each other
    std::vector<Channel> example;  ///< a shortest cycle of the first group
    std::vector<unsigned> vls;     ///< by channel of `example` its VL
    /// Without cycles: by channel a number lower than those of all channels it waits for.
    std::vector<std::uint32_t> order;
  };
  /// The cycles, or a numbering of the channels if there are none.
  Cycles cycles() const;
  /// Whether cycles() finds one; cheaper.
  bool any_cycle() const;
  /// By channel the number of its group of channels that wait for each other.
  std::vector<std::size_t> groups() const;
  /// By channel, as many words as the largest switch needs.
  std::vector<std::uint64_t> waits() && { return std::move(waits_); }

 private:
  /// The word of `waits_` that has the dependency, and its bit there.
  std::pair<std::size_t, std::uint64_t> place(const Channel& channel, unsigned vl, PortNum next,
                                              unsigned next_vl) const;
  std::span<const std::uint64_t> waits_of(std::size_t channel) const {
    return std::span(waits_).subspan(channel * words_, words_);
  }
  template <class Fn>
  void for_each_next(std::size_t channel, const Fn& fn) const;
  std::vector<std::uint8_t> in_cycles_or_between(std::vector<std::uint32_t>* order = nullptr) const;
  std::vector<std::size_t> shortest_cycle(std::span<const std::size_t> group) const;
  Channel channel(std::size_t index) const;

  const Topology* topology_;
  std::size_t vls_;
  std::size_t words_;
  std::vector<std::uint64_t> waits_;
  std::vector<std::uint64_t> shared_;     ///< at the first of a group: of all of it; empty until needed
  std::vector<SwitchIndex> next_switch_;  ///< by port; kNoSwitch if it leads to no switch
};

}  // namespace smd::routing::inline verify
