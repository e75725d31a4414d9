// SPDX-License-Identifier: Apache-2.0
#pragma once
// Data packets by the tables that the switches and adapters of a fabric hold: the way by LFTs, SL2VL and
// P_Keys as sim::walk() follows it, at each port VL arbitration with PortInfo.VLHighLimit, OperationalVLs,
// NeighborMTU and the link's rate. The fabric is only looked at.

#include <optional>
#include <span>
#include <vector>

#include "mad/sim/arbitration/simulation.h"
#include "mad/sim/packets/walk.h"
#include "mad/sim/state/state.h"

namespace smd::sim {

/// What an application sends.
struct DataFlow {
  PortIndex from = kNowhere;  ///< an end port
  Lid to{};
  Sl sl{};
  std::optional<PKey> pkey{};      ///< none: one that all ports have
  std::uint32_t payload = 0;       ///< bytes of each packet; 0, or more than the MTU of the way: that MTU
  std::uint32_t offered_mbps = 0;  ///< 0: as much as the first link takes
};

/// An end port that takes no packets of a VL, or none at all.
struct BlockedReceiver {
  PortIndex port = kNowhere;
  std::optional<Vl> vl{};
};

struct FlowShare {
  Walk way{};              ///< with the VL of each hop
  bool simulated = false;  ///< the way leads to the receiver, over one link at least
  PacketCount received{};  ///< counted packets
  double share = 0;        ///< of the bytes that its receiver got
};

/// What a receiver got of one SL by one VL.
struct ClassShare {
  PortIndex receiver = kNowhere;
  Sl sl{};
  Vl vl{};
  PacketCount received{};
  double share = 0;  ///< of the bytes that the receiver got
};

/// What a link carried of one VL, in one direction.
struct LinkShare {
  PortIndex out = kNowhere;  ///< port that it leaves by
  Vl vl{};
  PacketCount sent{};
  double share = 0;  ///< of the bytes that the link carried
  double load = 0;   ///< time in which the link sent, on whatever VL, of the counted time
  LaneCount lane{};  ///< credits and their use
};

/// A port and one of its VLs.
struct LinkVl {
  PortIndex out = kNowhere;
  Vl vl{};
  friend bool operator==(const LinkVl&, const LinkVl&) = default;
};

struct Arbitration {
  Ending ending = Ending::counted;
  Picoseconds elapsed = 0;              ///< counted time
  std::vector<FlowShare> flows{};       ///< as they were given
  std::vector<ClassShare> receivers{};  ///< ascending by receiver, SL and VL
  std::vector<LinkShare> links{};       ///< ascending by port and VL
  std::vector<LinkVl> held{};           ///< wait for a blocked receiver, or for a VL that is never served
  /// Deadlocks: each waits for credits of the next, the last for the first.
  std::vector<std::vector<LinkVl>> loops{};
  std::vector<LinkVl> behind{};  ///< wait for packets that are in a deadlock
};

/// Simulates the flows as sim::walk() leads them. Flows that do not arrive are named in the result and not
/// simulated. A million packets over four links take less than a second.
Arbitration arbitrate(const State& state, std::span<const DataFlow> flows,
                      const SimulationSettings& settings = {}, std::span<const BlockedReceiver> blocked = {});

/// Between the ports of two places: a packet to the LID of `to`. Nothing: no such place, or one that is no
/// end port.
std::optional<DataFlow> flow_between(const State& state, const Place& from, const Place& to, Sl sl,
                                     std::optional<PKey> pkey = std::nullopt);
/// Part of the bytes that the receiver got which came by this SL, on whatever VLs; 0 where none did.
double share_of(const Arbitration& result, PortIndex receiver, Sl sl);
/// Part of the bytes that left by the port which were on the VL; 0 where none were.
double share_of(const Arbitration& result, LinkVl at);

/// The arbitration tables that a port holds, within its capacities.
VlArbitrationTables arbitration_tables(const Port& port);
/// Mb/s of data on the port's link: of SDR, DDR and QDR eight tenths of the signalling rate.
std::uint32_t data_mbps(const Port& port);

}  // namespace smd::sim
