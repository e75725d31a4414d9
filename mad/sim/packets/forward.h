// SPDX-License-Identifier: Apache-2.0
#pragma once
// How packets find their way: by the tables of the switches, or by the path in a directed-route SMP.
// Forwarded is what was programmed, never what was meant.

#include <optional>

#include "mad/sim/packets/passing.h"
#include "mad/sim/state/state.h"
#include "mad/wire/smp.h"

namespace smd::sim {

/// A packet that has come to the end of its way.
struct Arrival {
  PortIndex port =
      kNowhere;      ///< where it came in; a switch's port 0 when it goes to the switch itself by LID
  Duration time{0};  ///< that the way took
};

/// Switches a packet may pass. Hardware ends a loop by the lifetime in a switch's queue, not by a count.
inline constexpr unsigned kMaxHops = 64;

/// Port that the switch's linear table names; 255 above LinearFDBTop and where nothing was written.
PortNum lft_port(const SwitchTables& sw, Lid lid);
/// Port that packets of this SL to the LID leave by: the first of their adaptive group that has an Active
/// link (else its first), where the switch has one; else lft_port(). Hardware takes the least loaded of the
/// group.
PortNum out_port(const State& state, const Node& node, Lid lid, Sl sl, bool datagram);
/// Bit n: external port n (bit 0: the switch itself) gets packets to the MLID. `position` as in the table.
std::uint16_t mft_mask(const SwitchTables& sw, Lid mlid, unsigned position);
/// The LID is the port's own (LMC counted in).
bool has_lid(const Port& port, Lid lid);

/// Packets other than SMPs may come in at the port: in Active, and by choice in Armed, which ends with them.
bool takes_data(const State& state, PortIndex port);

/// A LID-routed packet from an end port. SMPs (VL15) pass wherever the link is up, all others where it is
/// Active at both ends: in Init a link carries nothing but SMPs, in Armed it sends nothing else. Where
/// packets end Armed (Options::firmware), they do here. Nothing: dropped, and counted in state.drops.
std::optional<Arrival> forward_by_lid(State& state, PortIndex from, Lid dlid, const Load& load);

/// A multicast packet from an end port, by the masks of the switches and never back to where it came from:
/// one arrival for each end port that it reaches, in their order. Ports that enforce partitions let it pass
/// where they have the P_Key; no key: it is not asked for.
std::vector<Arrival> forward_multicast(State& state, PortIndex from, Lid mlid, std::optional<PKey> pkey,
                                       const Load& load);

/// A directed-route SMP, request or answer (D bit), from where it is to the end of its directed way. Hop
/// pointer and return path are written as the SMIs on the way do.
std::optional<Arrival> forward_directed(State& state, PortIndex from, wire::Smp& smp);

}  // namespace smd::sim
