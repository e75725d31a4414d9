// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who has sent an SMP with a wrong M_Key.

#include <optional>

#include "mad/wire/trap.h"
#include "smd/sweep/lid_index.h"

namespace smd::sm::inline scheduling {

/// The port that the SMP came from, by the way back that trap 256 of `victim` tells of; nothing: it does not
/// tell (an SMP by LID), or the way leads over links that are not known. Pure; `subnet` outlives what it
/// returns.
std::optional<LidIndex::Place> sender_of(const Subnet& subnet, const LidIndex& lids, const Node& victim,
                                         const wire::BadMKeyDetails& details);

}  // namespace smd::sm::inline scheduling
