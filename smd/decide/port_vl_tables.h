// SPDX-License-Identifier: Apache-2.0
#pragma once
// SL to VL and VL arbitration tables of another SM, while no QoS is configured: ports that have rebooted get
// them back before their links go Active.

#include <set>

#include "smd/decide/decided.h"
#include "smd/decide/stored.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline decisions {

/// What a node held that has been lost for so long is forgotten.
inline constexpr UnixTime kVlTablesKept = UnixTime{30} * 24 * 3600;

/// As devices are made with, by the blocks that are known: SLs spread over the VLs or all on VL 0, equal
/// weights.
bool is_device_made(const HeldBlocks<wire::SlToVl>& table);
bool is_device_made(const HeldBlocks<wire::VlArbitration>& table);

/// Notes what nodes in service hold whose tables are all known: of a node in `noted`, which were noted since
/// we became master, nothing. Adds to `noted`. Tables as devices are made with are not kept: a reset brings
/// such ones back. Pure. False where nothing is new.
bool note_vl_tables(Stored& stored, const Subnet& subnet, std::set<Guid>& noted, UnixTime now);

/// What ports in Init are to hold again.
struct VlTableDecision {
  TablePart<wire::SlToVl> sl_to_vl;
  TablePart<wire::VlArbitration> arbitration;
};
/// The stored tables of all ports in Init; other ports have none. Pure.
VlTableDecision restore_vl_tables(const Subnet& subnet, const Stored& stored);

}  // namespace smd::sm::inline decisions
