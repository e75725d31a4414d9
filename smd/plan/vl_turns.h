// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arbitration tables of a port in use on their way to those that are decided: no VL with packets may be
// without turns. Their blocks are written one by one, in any order.

#include <array>
#include <bitset>

#include "smd/decide/qos_part.h"
#include "smd/decide/qos_shares.h"
#include "smd/tables/held_table.h"

namespace smd::sm::inline planning {

inline constexpr std::size_t kArbitrationBlocks = 4;  ///< by wire::VlArbPart less 1
inline constexpr std::size_t kEntriesOfBlock = 32;

struct VlTurns {
  /// What is decided, with turns for VLs that lose theirs: in entries without weight, else of VLs that have
  /// other turns.
  std::array<wire::VlArbitration, kArbitrationBlocks> between{};
  /// Blocks to be written after the others: a VL that leaves one of these has its turns in another one then.
  std::bitset<kArbitrationBlocks> late{};
};

/// `in_use`: VLs that have packets; all: they are not known. `moves`: SLs get other VLs, so that VLs without
/// a turn in `tables` need one until then: those that have one, or, where `held` is `tables` already, all of
/// them. Where there are too few entries for all of them, some VLs have none until the next step.
/// Pure.
VlTurns turns_between(const QosPart::Tables& tables, const HeldBlocks<wire::VlArbitration>& held,
                      const VlSet& in_use, bool moves);

}  // namespace smd::sm::inline planning
