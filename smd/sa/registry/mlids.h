// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which multicast LID, and which name, a new group gets.

#include <optional>
#include <span>

#include "smd/registry/registry.h"
#include "smd/sa/settings.h"

namespace smd::sa {

/// An IPv6 solicited-node group: ff1S:601b:PKEY::1:ffXX:XXXX.
bool is_solicited_node(const Mgid& mgid);

/// The lowest one that is free, of the `capacity` first; where there is none, that of a group with the same
/// terms, the one which the fewest groups share. Nothing: there is no such group.
/// Those in `taken` (ascending) only when there is no other: their members may not have joined again yet.
std::optional<Lid> choose_mlid(const Registry& registry, const Settings& settings, unsigned capacity,
                               std::span<const Lid> taken, const Mgid& mgid, const GroupParameters& terms);

/// A name that no group has, for a client that left it to us: the scope's, with the signature 0xA01B.
Mgid choose_mgid(const Registry& registry, std::uint64_t subnet_prefix, std::uint8_t scope);

}  // namespace smd::sa
