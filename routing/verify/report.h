// SPDX-License-Identifier: Apache-2.0
#pragma once
// The result of verification.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mad/base/id.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline verify {

/// One hop of a counterexample: switch `sw` forwards packets for `lid` to port `out`.
struct Hop {
  SwitchIndex sw = 0;
  PortNum out;
  Lid lid;
  friend bool operator==(const Hop&, const Hop&) = default;
};

/// By layer and channel of the Topology a number: packets in a channel wait only for channels with higher
/// numbers, so there is no credit loop.
using ChannelOrder = std::vector<std::vector<std::uint32_t>>;

/// By layer and channel the ports of the next switch that it waits for, a bit each.
using ChannelWaits = std::vector<std::vector<std::uint64_t>>;

/// Counts are over the whole fabric; each kind of fault has one example.
struct Verification {
  /// Connected pairs (source, destination) of hosts without a route, and pairs of a host and the aggregation
  /// node of its own switch. An end port with several LIDs counts once, for any of them.
  std::uint64_t host_pairs_unreachable = 0;
  /// The same for pairs of a host and an aggregation node of another switch: no fault, but named in a
  /// warning. Aggregation nodes need no routes to each other.
  std::uint64_t aggregation_pairs_unreachable = 0;
  /// (switch, LID) without a route: from switches without hosts, and from hosts to aggregation nodes of other
  /// switches.
  std::uint64_t unrouted_by_rule = 0;
  /// (switch with hosts, LID of a switch) that are connected and have no route.
  std::uint64_t unreachable_switch_pairs = 0;
  /// (switch, LID) in a forwarding loop.
  std::uint64_t loops = 0;
  /// (switch, LID) whose packets end in a wrong place: at a port that is down or of another node, or at a
  /// switch without a route. Switches with hosts count under the pairs above, too.
  std::uint64_t dead_ends = 0;
  /// Groups of channels that wait for each other, for traffic between end ports (as ibdmchk counts them), and
  /// those that need traffic of the switches themselves.
  std::uint64_t credit_loops = 0;
  std::uint64_t management_credit_loops = 0;
  unsigned vls = 1;
  unsigned layers = 1;
  /// No credit loop between end ports, even if every path uses layer 0: clients need not ask for SLs.
  bool fixed_sl_ok = true;
  /// No credit loop between end ports if every path is used on the layer of the path back, too.
  bool reverse_ok = true;
  std::shared_ptr<const ChannelOrder> order;  ///< null with cycles of channels
  std::shared_ptr<const ChannelWaits> waits;  ///< the graph behind `order`, or a larger one; null as above

  std::vector<Hop> unreachable_example;  ///< between two hosts: from the source switch to the end of the path
  std::vector<Hop> aggregation_example;  ///< between a host and an aggregation node
  std::array<Guid, 2> aggregation_pair;  ///< of that example: source and destination
  std::vector<Hop> loop_example;
  std::vector<Hop> dead_end_example;
  std::vector<Hop> credit_loop_example;  ///< each channel with a LID that waits for the next

  /// No pair of hosts without a path, no forwarding loop, dead end, or credit loop between end ports.
  bool ok() const { return host_pairs_unreachable == 0 && loops == 0 && dead_ends == 0 && credit_loops == 0; }
  /// Also free of credit loops by traffic of switches, as required of tables that smd writes.
  bool clean() const { return ok() && management_credit_loops == 0; }
};

/// The faults in one line, with GUIDs and ports of the examples; "ok" if there are none.
std::string describe(const Verification& found, const Topology& topology);

/// A warning in one line that names the example of aggregation_pairs_unreachable; empty if there are none.
/// `name`: of a node.
std::string describe_left_out(const Verification& found, const Topology& topology,
                              const std::function<std::string(Guid)>& name);

}  // namespace smd::routing::inline verify
