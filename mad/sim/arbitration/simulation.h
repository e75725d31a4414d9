// SPDX-License-Identifier: Apache-2.0
#pragma once
// Data packets one by one: credits for each VL, VL arbitration at each output port, store and forward. Time
// is counted in whole picoseconds and events of one time come in the order in which they were made, so that
// the same network gives the same figures everywhere.

#include <cstdint>
#include <vector>

#include "mad/sim/arbitration/network.h"

namespace smd::sim {

/// Why a simulation ended.
enum class Ending : std::uint8_t {
  counted,        ///< the packets that were asked for have arrived
  time,           ///< SimulationSettings::longest
  nothing_moves,  ///< no packet can move any more
};

struct PacketCount {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;  ///< with headers
  friend bool operator==(const PacketCount&, const PacketCount&) = default;
};

struct FlowCount {
  PacketCount received{};          ///< counted ones
  std::uint64_t all_sent = 0;      ///< packets, warm-up included
  std::uint64_t all_received = 0;  ///< the same
  friend bool operator==(const FlowCount&, const FlowCount&) = default;
};

/// One VL of one channel that flows use.
struct LaneCount {
  std::uint32_t channel = 0;
  Vl vl{};
  PacketCount sent{};           ///< counted ones
  std::uint32_t credits = 0;    ///< blocks of its buffer
  std::uint32_t most_used = 0;  ///< blocks of it, at any time, packets under way included
  /// Packets at the end that lie in buffers and leave by it; none of those that are still at their source.
  std::uint64_t waiting = 0;
  friend bool operator==(const LaneCount&, const LaneCount&) = default;
};

/// Lanes that wait for each other: none of their packets can ever move, whatever receivers do. The first
/// waits for credits of the second, the last for credits of the first. Indices of Outcome::lanes.
using CreditLoop = std::vector<std::uint32_t>;

struct Outcome {
  Ending ending = Ending::counted;
  Picoseconds elapsed = 0;            ///< counted time
  std::vector<FlowCount> flows{};     ///< as Network::flows
  std::vector<LaneCount> lanes{};     ///< ascending by channel and VL
  std::vector<Picoseconds> busy{};    ///< by channel: time in which it sent, of packets that are counted
  std::uint64_t in_buffers = 0;       ///< packets at the end, those that blocked receivers hold included
  std::uint64_t on_links = 0;         ///< packets at the end
  std::vector<std::uint32_t> held{};  ///< lanes that wait for a blocked receiver or a VL that is never served
  std::vector<CreditLoop> loops{};    ///< each lane in one at most
  std::vector<std::uint32_t> behind{};  ///< lanes that cannot move because they lead into a loop
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// Pure. The network is consistent: indices exist, VLs are below 15, no flow uses a lane twice.
Outcome simulate(const Network& network, const SimulationSettings& settings = {});

}  // namespace smd::sim
