// SPDX-License-Identifier: Apache-2.0
#pragma once
// P_Keys of a port that are decided, and how many of them it has.

#include <span>

#include "smd/decide/decided.h"

namespace smd::sm::inline decisions {

/// All blocks of the port's P_Key table that are decided; none where partitions are not managed. They live as
/// long as `decided`.
std::span<const PKeyPart::Block> decided_blocks(const Decided& decided, const PeerPort& at);

/// What is left of a key that a port holds where `decided` are the blocks of its table: the key, the limited
/// one of its partition, or PKey{}.
PKey granted_key(PKey held, std::span<const PKeyPart::Block> decided);

}  // namespace smd::sm::inline decisions
