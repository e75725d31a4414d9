// SPDX-License-Identifier: Apache-2.0
#pragma once
// The order in which destinations take the candidate ports in round robin.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "routing/engines/number_gaps.h"
#include "routing/topology/lids.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline engines {

/// Kinds of LIDs that are spread over ports each by itself, so that none changes the routes of another. In
/// the order in which they get routes.
enum class LidKind : std::uint8_t { host, aggregation, of_switch };
inline constexpr std::size_t kLidKinds = 3;

/// The kind of the LIDs of `to`, whose switch exists.
LidKind kind_of(const Topology& topology, const Destination& to);

/// Consecutive LIDs with consecutive numbers, of ports on one switch.
struct LidRun {
  std::uint16_t lid = 0;
  std::uint16_t length = 0;
  std::uint32_t number = 0;  ///< of the first LID
  SwitchIndex destination = 0;
  bool follows = false;  ///< LID and number continue the run before
  LidKind kind = LidKind::host;
};

/// Appends one LID, behind the others: to the last run where it continues that.
void append(std::vector<LidRun>& runs, LidRun one);

/// All switches, by the first LID of their end ports, or by their own LID without any. Columns in this order
/// are consecutive where LIDs are.
std::vector<SwitchIndex> switches_by_lid(const Topology& topology, const LidMap& lids);

/// Hop count between two switches.
using HopCount = std::function<unsigned(SwitchIndex, SwitchIndex)>;

/// The leaves, ordered so that those with near common ancestors are together, at every level of a tree.
std::vector<SwitchIndex> leaves_by_nearness(const Topology& topology, const HopCount& hops);

enum class Numbering : std::uint8_t {
  dense,   ///< consecutive
  padded,  ///< as if each leaf had as many end ports of a kind as the fullest: n-th ports are routed alike
};

/// All LIDs that lead to a switch, by LID. End ports are numbered kind by kind (compute, I/O, routers,
/// aggregation nodes, and separately each rail of machines with several ports), leaf by leaf in the given
/// order, port by port, so that each kind is balanced by itself; numbers_with_gaps() of `levels`, whose
/// blocks are of these leaves. The LIDs of a range count on from the number of their port, so that their
/// paths differ.
std::vector<LidRun> number_lids(const Topology& topology, const LidMap& lids,
                                std::span<const SwitchIndex> leaf_order,
                                Numbering numbering = Numbering::dense,
                                std::span<const RoundRobinLevel> levels = {});

}  // namespace smd::routing::inline engines
