// SPDX-License-Identifier: Apache-2.0
#pragma once
// Packets with keys that their receivers, or switches on the way, do not accept.

#include <cstdint>
#include <functional>
#include <string>

#include "mad/wire/notice.h"
#include "smd/log/log.h"
#include "smd/sweep/lid_index.h"

namespace smd::sm::inline scheduling {

/// Traps that report packets with a key that is not accepted, since the start.
struct ViolationCounts {
  std::uint64_t pkey = 0;       ///< 257: a P_Key, at an end port
  std::uint64_t qkey = 0;       ///< 258: a Q_Key
  std::uint64_t at_switch = 0;  ///< 259: a P_Key, at a switch port that enforces partitions
  /// Counts a trap of this number; others are ignored.
  void count(std::uint16_t trap);
  friend bool operator==(const ViolationCounts&, const ViolationCounts&) = default;
};

/// The P_Keys by which two end ports can talk, in words.
using SharedKeys = std::function<std::string(const LidIndex::Place&, const LidIndex::Place&)>;

/// `partition.violation` for a trap 257, 258 or 259, one line a minute for each source and key: both ends,
/// and the P_Keys that they have in common. `from` sent the trap. False: another trap, nothing is logged.
bool log_violation(const log::Log& log, const LidIndex& lids, const wire::Notice& notice, Lid from,
                   const SharedKeys& shared);

}  // namespace smd::sm::inline scheduling
