// SPDX-License-Identifier: Apache-2.0
#pragma once
// Maps LIDs to ports.

#include <cstdint>
#include <span>
#include <vector>

#include "mad/base/id.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline topology {

/// The LIDs base to base + 2^lmc - 1. Base 0: none.
struct LidRange {
  Lid base;
  std::uint8_t lmc = 0;
  std::uint32_t count() const { return base.value() == 0 ? 0U : 1U << lmc; }  ///< 2^lmc; 0: no LID
  friend bool operator==(const LidRange&, const LidRange&) = default;
};

/// The port of a LID: port `port` of switch `sw`; port 0 is the switch itself.
struct Destination {
  SwitchIndex sw = kNoSwitch;  ///< kNoSwitch: an unassigned LID, or an end port without a switch
  EndIndex end = kNoEnd;       ///< kNoEnd: the switch itself
  PortNum port;
  std::uint8_t offset = 0;  ///< of the LID within its range
};

/// Immutable. LIDs outside 1 to 0xBFFF are left out. If two ports claim a LID, the first keeps it: switches
/// before end ports, in the order of the Topology.
class LidMap {
 public:
  LidMap() = default;
  /// Both spans are in the order of the TopologyInput; ports beyond the end of a span have no LID.
  LidMap(const Topology& topology, std::span<const LidRange> switches, std::span<const LidRange> end_ports);

  /// The LIDs of `from` for the same fabric `to`, which is from.reordered(order).
  LidMap reordered(const Topology& from, const Topology& to, std::span<const SwitchIndex> order) const;

  LidRange of_switch(SwitchIndex s) const { return switches_[s]; }  ///< base 0: the switch has no LID
  LidRange of_end(EndIndex e) const { return ends_[e]; }            ///< base 0: the port has no LID
  /// The highest LID in use; 0 if there is none.
  Lid top() const { return top_; }
  /// Number of LIDs in use.
  std::size_t size() const { return size_; }
  /// The port of a LID; a default Destination if it is unassigned.
  Destination destination(Lid lid) const {
    return lid.value() < destinations_.size() ? destinations_[lid.value()] : Destination{};
  }
  /// Number of entries of a forwarding table: whole blocks of 64, up to top().
  std::size_t row_size() const { return (std::size_t{top_.value()} / 64 + 1) * 64; }

 private:
  void claim(LidRange range, Destination to);

  std::vector<LidRange> switches_, ends_;
  std::vector<Destination> destinations_;
  Lid top_;
  std::size_t size_ = 0;
};

}  // namespace smd::routing::inline topology
