// SPDX-License-Identifier: Apache-2.0
#pragma once
// Packets with keys that their receivers, or switches on the way, do not accept.

#include "mad/wire/notice.h"
#include "smd/log/log.h"
#include "smd/sweep/lid_index.h"

namespace smd::sm::inline scheduling {

/// `partition.violation` for a trap 257, 258 or 259, one line a minute for each source and key: both ends,
/// and the P_Keys that they have in common. `from` sent the trap. False: another trap, nothing is logged.
bool log_violation(const log::Log& log, const LidIndex& lids, const wire::Notice& notice, Lid from);

}  // namespace smd::sm::inline scheduling
