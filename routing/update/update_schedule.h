// SPDX-License-Identifier: Apache-2.0
#pragma once
// In which order blocks of forwarding tables are written, so that nothing goes wrong between the first and
// the last.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "routing/routes.h"
#include "routing/topology/context.h"
#include "routing/verify/report.h"

namespace smd::routing::inline update {

/// The table that a switch has now.
struct InstalledTable {
  const LftRow* row = nullptr;           ///< null and what is beyond its end: 255
  std::span<const std::uint64_t> known;  ///< a bit each block of 64; blocks beyond the end are not known
  bool forwards = true;                  ///< false: fresh from reset, no entry counts
};

/// One block to write: the 64 entries from `block` * 64 on of the new row, but the installed row's for LIDs
/// in `kept`, and 255 for those in `dropped`; such a block is written again in a later round.
struct BlockWrite {
  SwitchIndex sw = 0;
  std::uint16_t block = 0;
  std::uint64_t kept = 0, dropped = 0;
  friend bool operator==(const BlockWrite&, const BlockWrite&) = default;
};

/// Writes that may happen in any order and at any time against each other. The next round begins when all
/// are acknowledged.
struct UpdateStep {
  std::vector<BlockWrite> writes;  ///< by (block, switch)
  /// Before the next round wait as long as a packet may live: routes were taken away to break a circle.
  bool drain = false;
  /// Credit loops left no order in which all that arrives goes on arriving.
  bool interrupts = false;
};

/// The tables that are installed, those that they shall become, and under which conditions.
struct UpdateInput {
  std::span<const InstalledTable> installed;  ///< by SwitchIndex
  const Routes& routes;                       ///< verified
  Lid sm_lid;                                 ///< its block is written last
  /// `routes` are not free of credit loops: the schedule does not regard them.
  bool allow_credit_loops = false;
  const ChannelOrder* order = nullptr;  ///< of the verification of `routes`, saves much work; null: none
  /// The last step of the schedule before this one withdrew routes and its drain time still runs: all
  /// withdrawals come first, so that they are waited for once.
  bool draining = false;
};

/// What is written so that the tables become `routes`, in rounds. Whichever of a round's writes have
/// happened, the mixture has no forwarding loop and no credit loop that the tables before it had not, and
/// what arrives before and after the round arrives all the time. Blocks that are not known come first, with
/// 255 where their entries might lead back by what is known of the others; nothing else can be said of them.
/// With them come all blocks of switches that do not forward yet: they may begin to after this round.
/// The block of `sm_lid` comes last. A block whose LIDs
/// must wait for each other's is written in parts. Where credit loops leave no order, LIDs that stand in each
/// other's way are dropped for a while. `routes` must be verified; `allow_credit_loops`: they are not free of
/// them, and that is not looked at. When stopped the result is of no use.
/// `order`: that of the verification of `routes`, which saves much work; null: none. `draining`: nothing can
/// be written yet but what takes routes away, because a round before that did so was the last: then all that
/// has to go goes first, and waits once. Otherwise at most one round drains.
std::vector<UpdateStep> update_schedule(const RoutingContext& in, const UpdateInput& tables);

}  // namespace smd::routing::inline update
