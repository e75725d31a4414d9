// SPDX-License-Identifier: Apache-2.0
#pragma once
// The order in which blocks of forwarding tables are written, so that every state between is free of loops.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "routing/routes.h"
#include "routing/topology/context.h"
#include "routing/verify/report.h"

namespace smd::routing::inline update {

/// The table that a switch holds.
struct InstalledTable {
  const LftRow* row = nullptr;           ///< null, and entries beyond its end: 255
  std::span<const std::uint64_t> known;  ///< one bit per block of 64; blocks beyond its end are unknown
  bool forwards = true;                  ///< false: fresh from reset, no entry is in effect
  /// Rows whose blocks in `uncertain` may be in effect as well: writes of them were not answered. Null
  /// entries mean 255.
  std::span<const std::shared_ptr<const LftRow>> perhaps{};
  std::span<const std::uint64_t> uncertain{};  ///< one bit per block of 64
};

/// One block to write: 64 entries of the new row from `block` * 64 on, except that LIDs in `kept` keep the
/// installed entry and LIDs in `dropped` get 255. Such a block is written again in a later step.
struct BlockWrite {
  SwitchIndex sw = 0;
  std::uint16_t block = 0;
  std::uint64_t kept = 0, dropped = 0;
  friend bool operator==(const BlockWrite&, const BlockWrite&) = default;
};

/// Writes that may take effect in any order. The next step begins when all are acknowledged.
struct UpdateStep {
  std::vector<BlockWrite> writes;  ///< by (block, switch)
  /// Routes were withdrawn to break a loop: wait for a packet lifetime before the next step.
  bool drain = false;
  /// Because of credit loops, traffic that works is interrupted.
  bool interrupts = false;
};

/// Installed and desired tables, and the conditions of the update.
struct UpdateInput {
  std::span<const InstalledTable> installed;  ///< by SwitchIndex
  const Routes& routes;                       ///< verified
  Lid sm_lid;                                 ///< its block is written last
  /// `routes` have credit loops: the schedule ignores credit loops.
  bool allow_credit_loops = false;
  const ChannelOrder* order = nullptr;  ///< of the verification of `routes`, saves much work; null: none
  /// The layers in which packets may still travel: of the tables before. Null: those of `routes`.
  const Layers* layers_before = nullptr;
  /// The drain time of an earlier step still runs and only withdrawals may be written: all withdrawals come
  /// first, so that they are waited for once.
  bool draining = false;
};

/// Returns the steps that turn the installed tables into `routes`. Any subset of a step's writes may have
/// taken effect: no such state has a forwarding loop or credit loop that the tables before did not have, and
/// what arrives before and after the step arrives throughout (not of unknown blocks and switches that do not
/// forward yet, which come first). If credit loops leave no safe order, LIDs are withdrawn for a time. Layers
/// by pair of switches: paths are followed in the layers before and after.
std::vector<UpdateStep> update_schedule(const RoutingContext& in, const UpdateInput& tables);

}  // namespace smd::routing::inline update
