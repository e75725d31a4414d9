// SPDX-License-Identifier: Apache-2.0
#pragma once
// P_Key tables of ports as they are known.

#include <cstddef>
#include <span>
#include <tuple>
#include <vector>

#include "mad/wire/tables.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline sweeping {

/// Keys of one block.
inline constexpr std::size_t kPKeysOfBlock = std::tuple_size_v<decltype(wire::PKeyTable::keys)>;

/// Keys that the port's table has room for: NodeInfo.PartitionCap; of external ports of switches
/// SwitchInfo.PartitionEnforcementCap, 0 where that is not known.
unsigned pkey_capacity(const Node& node, PortNum port);

/// A table as it is after a reset: the default P_Key at index 0, or nothing.
bool is_as_made(std::span<const PKey> keys);

/// By index, whole blocks. What is not known or names no partition is PKey{}.
std::vector<PKey> keys_of(const HeldBlocks<wire::PKeyTable>& held);

}  // namespace smd::sm::inline sweeping
