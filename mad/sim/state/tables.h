// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reading the tables of a port as the hardware applies them.

#include "mad/sim/state/state.h"

namespace smd::sim {

/// Data VLs that PortInfo's code of VLCap and OperationalVLs stands for; 0 for other codes.
unsigned data_vls(std::uint8_t code);
/// VL of packets with this SL that leave by `out`, having come in by port `in` of the same node.
Vl sl_to_vl(const State& state, PortIndex out, PortNum in, Sl sl);

/// One row of SL2VL, 4 bits an SL, SL 0 lowest: SL n on VL n, above VL 7 again from VL 0.
inline constexpr std::uint64_t kDefaultSlToVl = 0x7654'3210'7654'3210ULL;
/// SL n in bits 4n to 4n + 3; kDefaultSlToVl until it is written. Of a CA `in` is not used.
std::uint64_t sl_to_vl_row(const State& state, PortIndex out, PortNum in);
/// Makes the node's table at its first change. Of a CA `in` is not used.
void set_sl_to_vl_row(State& state, PortIndex out, PortNum in, std::uint64_t row);

/// The port's VL arbitration was written, and has no weight for the lane. (Tables without any weight at all
/// are taken for unwritten tables.)
bool starves(const State& state, PortIndex port, Vl vl);

/// Capacity of the port's P_Key table; 0: it has none.
unsigned pkey_capacity(const State& state, PortIndex port);
/// Entry of a P_Key table, 0 beyond its end; after reset the default key stands at index 0.
PKey p_key(const State& state, PortIndex port, unsigned index);
/// Ignored at pkey_capacity() or above.
void set_p_key(State& state, PortIndex port, unsigned index, PKey key);
/// The very key is in the port's table: it may send with it. (Two limited members cannot talk, but both can
/// send.)
bool holds_p_key(const State& state, PortIndex port, PKey key);
/// Where the port has the key by which it accepts these packets; 0 where it has none.
std::uint16_t p_key_index(const State& state, PortIndex port, PKey key);
/// The port accepts packets with this key: it has the partition, and one side at least is a full member.
bool has_p_key(const State& state, PortIndex port, PKey key);
/// A switch's port that enforces partitions lets packets with this key pass: the partition is in its table.
/// Membership (bit 15) is no business of a switch.
bool passes_p_key(const State& state, PortIndex port, PKey key);

}  // namespace smd::sim
