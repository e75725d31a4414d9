// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the simulation of data packets runs on: directions of links with their arbitration and buffers, and
// flows with the links and VLs of their way. Pure values: sim::arbitrate() makes them from the
// tables of a fabric, tests make them by hand.

#include <cstdint>
#include <vector>

#include "mad/sim/arbitration/vl_arbiter.h"

namespace smd::sim {

/// Picoseconds of the simulation's own time, which begins at 0.
using Picoseconds = std::uint64_t;

/// Bytes of a packet that are not payload: LRH 8, BTH 12, ICRC 4, VCRC 2.
inline constexpr std::uint32_t kHeaderBytes = 26;

/// One direction of a link: an output port, the cable, and the input buffers at its other end, one for each
/// VL.
struct Channel {
  std::uint32_t mbps = 100'000;
  unsigned vls = 8;  ///< data VLs in operation
  VlArbitrationTables tables{};
  std::uint32_t mtu = 4096;   ///< bytes of payload
  std::uint32_t credits = 0;  ///< of each VL, in blocks of 64 bytes; 0: as default_credits() says
  VlSet blocked = 0;          ///< VLs of which the other end, a receiver, takes nothing
};

struct Step {
  std::uint32_t channel = 0;  ///< index of Network::channels
  Vl vl{};
};

/// Packets of one sender to one receiver.
struct Flow {
  std::vector<Step> way{};         ///< at least one; the last one leads to the receiver
  std::uint32_t payload = 4096;    ///< bytes of each packet
  std::uint32_t offered_mbps = 0;  ///< of payload; 0: as much as the first link takes
};

struct Network {
  std::vector<Channel> channels{};
  std::vector<Flow> flows{};
};

struct SimulationSettings {
  std::uint64_t packets = 100'000;  ///< that arrive and are counted; then it ends
  std::uint64_t warm_up = 10'000;   ///< that arrive before anything is counted
  Picoseconds longest = 0;          ///< of counted time; 0: without an end
  Picoseconds delay = 150'000;      ///< a cable and what a switch needs, one way
  unsigned buffer_packets = 8;      ///< of MTU size that a VL's buffer holds, beside what is under way
};

/// Blocks for `buffer_packets` packets of the channel's MTU, and for what it sends within a round trip.
std::uint32_t default_credits(const Channel& channel, const SimulationSettings& settings);
/// Time that so many bytes take on a link.
constexpr Picoseconds time_on_link(std::uint64_t bytes, std::uint32_t mbps) {
  return (bytes * 8'000'000U + mbps - 1) / mbps;
}

}  // namespace smd::sim
