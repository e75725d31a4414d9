// SPDX-License-Identifier: Apache-2.0
#pragma once
// What verification found.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mad/base/id.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline verify {

/// One hop of a counterexample: at switch `sw` packets for `lid` leave by `out`.
struct Hop {
  SwitchIndex sw = 0;
  PortNum out;
  Lid lid;
  friend bool operator==(const Hop&, const Hop&) = default;
};

/// For each layer a number for each channel of the Topology: no packet that holds one waits for one with a
/// lower number, so that no credit loop can be.
using ChannelOrder = std::vector<std::vector<std::uint32_t>>;

/// For each layer and channel the ports of the next switch that it waits for, a bit each.
using ChannelWaits = std::vector<std::vector<std::uint64_t>>;

/// Counts are of the whole fabric; each kind of fault has one example.
struct Verification {
  /// (source, destination) that cables connect and that have no route, of which at least one is a host and
  /// the other one, too, or an aggregation node; an end port with several LIDs counts once, whichever of them
  /// is not reached. Aggregation nodes may do without each other.
  std::uint64_t host_pairs_unreachable = 0;
  /// Those of them with an aggregation node.
  std::uint64_t aggregation_pairs_unreachable = 0;
  /// (switch, LID) without a route where the switch has no hosts; but pairs that count above.
  std::uint64_t unrouted_by_rule = 0;
  /// (switch with hosts, LID of a switch) that cables connect, without a route.
  std::uint64_t unreachable_switch_pairs = 0;
  /// (switch, LID) whose packets go round for ever.
  std::uint64_t loops = 0;
  /// (switch, LID) whose packets end where they should not: at a port that is down or another node's, or at
  /// a switch without a route. Sources with hosts count under the pairs above, too.
  std::uint64_t dead_ends = 0;
  /// Cycles of channels (groups of channels that wait for each other) made by traffic from end port to end
  /// port, as ibdmchk counts them; and those that take traffic of the switches themselves to close.
  std::uint64_t credit_loops = 0;
  std::uint64_t management_credit_loops = 0;
  unsigned vls = 1;
  std::shared_ptr<const ChannelOrder> order;  ///< null where there are cycles of channels
  std::shared_ptr<const ChannelWaits> waits;  ///< what the order was found from, or more; null as above

  std::vector<Hop> unreachable_example;  ///< of two hosts: from the source switch on, to where it ends
  std::vector<Hop> aggregation_example;  ///< of a host and an aggregation node
  std::array<Guid, 2> aggregation_pair;  ///< which those are, source and destination
  std::vector<Hop> loop_example;
  std::vector<Hop> dead_end_example;
  std::vector<Hop> credit_loop_example;  ///< each channel with a LID that makes it wait for the next

  bool ok() const { return host_pairs_unreachable == 0 && loops == 0 && dead_ends == 0 && credit_loops == 0; }
  /// What we write ourselves must also be free of the switches' own credit loops.
  bool clean() const { return ok() && management_credit_loops == 0; }
};

/// The faults in one line, with GUIDs and ports of the examples; "ok" where there is none.
std::string describe(const Verification& found, const Topology& topology);

}  // namespace smd::routing::inline verify
