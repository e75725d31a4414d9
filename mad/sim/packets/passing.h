// SPDX-License-Identifier: Apache-2.0
#pragma once
// What ports count of the packets that pass them, and of those that do not.

#include "mad/sim/state/state.h"

namespace smd::sim {

/// What a MAD is for the links that it crosses.
struct Load {
  bool smp = false;
  bool multicast = false;
  Sl sl{};
  std::uint32_t packets = 1;  ///< that it takes on a wire
};

// Not for SMPs: they go by VL15, and PortXmitData is that of the data VLs.
/// Counts what leaves by `out`: PortXmitPkts, PortXmitData and their details.
void count_sent(State& state, PortIndex out, const Load& load);
/// Counts what has come in by `in` on this VL: PortRcvPkts, PortRcvData and their details.
void count_received(State& state, PortIndex in, const Load& load, Vl vl);

/// A bad cable has spoilt a packet, which shows at the port where it comes in.
void count_spoilt(State& state, PortIndex in);
/// A switch throws away what has come in by this port: PortRcvSwitchRelayErrors and the detail of it that
/// says why. Its own packets (port 0) are not counted.
void count_relay_error(State& state, PortIndex in, Counter why);

}  // namespace smd::sim
