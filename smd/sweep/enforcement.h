// SPDX-License-Identifier: Apache-2.0
#pragma once
// P_Key enforcement of switch ports, as an earlier SM has left it: the bits of PortInfo and the port's table
// belong to the node that was at the other end.

#include "mad/wire/port_info.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline sweeping {

/// PartitionEnforcementInbound or -Outbound is set.
bool enforces(const wire::PortInfo& info);

/// The port of a switch answers Sets of the bits well, does not keep them, and so enforces nothing.
bool forgets_enforcement(const Node& node, PortNum port);

/// Clears both, and FilterRaw of both directions, which the same SM has set with them.
void stop_enforcing(wire::PortInfo& info);

/// The port of a switch enforces P_Keys that were meant for another node than the one that is behind it now,
/// or its link leads to a switch: there packets of all partitions pass. OpenSM enforces at links of end
/// ports alone (osm_pkey_mgr.c, pkey_mgr_update_peer_port).
bool enforces_for_another(const Subnet& subnet, const Node& node, PortNum port);

/// Sets `now.enforced`. A port that is seen to enforce for the first time, or with its link in service, does
/// it for the node behind it. `before`: the Subnet of the last call; null: another SM may have written since.
void note_enforcement(Subnet& now, const Subnet* before);

}  // namespace smd::sm::inline sweeping
