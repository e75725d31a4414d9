// SPDX-License-Identifier: Apache-2.0
#pragma once
// P_Key tables of another SM, while no partition is configured: ports that have rebooted get them back before
// their links go Active.

#include <cstdint>

#include "smd/decide/decided.h"
#include "smd/decide/stored.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline decisions {

/// A row that no port was seen with for so long is forgotten.
inline constexpr std::int64_t kPortKeysKept = std::int64_t{30} * 24 * 3600;

/// Notes what ports in service hold: all of it when we have just become master (`adopting`), else that of
/// ports without a row. `now`: seconds since 1970. False where nothing is new. Pure.
bool note_port_keys(Stored& stored, const Subnet& subnet, bool adopting, std::int64_t now);

/// The same while partitions are managed, of ports with keys that belong to none of them: these keys, and
/// that of the default partition. Where `part` keeps none all rows go. Pure.
bool note_foreign_keys(Stored& stored, const Subnet& subnet, const PartitionPart& part, bool adopting,
                       std::int64_t now);

/// Whether neither a partition of the policy nor the database has given the key to the port.
bool is_foreign_key(const config::PartitionPolicy& policy, const Stored& stored, Guid port, PKey key);

/// Ports in Init whose table is known, and the ports of switches next to them: what is stored of them, else
/// what a new port gets; `adopting`: keys of a port without a row are those that the SM before us gave it.
/// Adds to `part` (enforced, restored, new_ports) and `tables`. Pure.
void restore_port_keys(const Subnet& subnet, const Stored& stored, bool adopting, PartitionPart& part,
                       PKeyPart& tables);

}  // namespace smd::sm::inline decisions
