// SPDX-License-Identifier: Apache-2.0
#pragma once
// Single data packets, and what the ports that refuse one do: count it and tell the SM.

#include "mad/sim/packets/walk.h"

namespace smd::sim {

/// Q_Key of a port's simulated queue pair: that of QP1 (IB_QP1_QKEY of Linux).
inline constexpr std::uint32_t kQKey = 0x8001'0000;

struct DataPacket {
  Lid dlid{};
  Sl sl{};
  PKey pkey = kDefaultPKey;
  std::uint32_t qkey = kQKey;
};

/// Sends the packet from an end port. Where its P_Key is refused, an end port counts a violation and raises
/// trap 257, a switch that enforces partitions counts a constraint error and raises 259; where the Q_Key is
/// not kQKey the end port counts that and raises 258.
Walk send_data(State& state, PortIndex from, const DataPacket& packet);

/// The ports on the way count what they have sent, received, or thrown away.
void count_data(State& state, const Walk& way, Sl sl);

/// As send_data; true: a port on the path refuses it.
bool is_refused(State& state, PortIndex from, const DataPacket& packet);

}  // namespace smd::sim
