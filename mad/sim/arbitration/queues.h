// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where packets are between two links, inside a simulation: a lane for each VL of each channel that flows
// use, and in front of it a queue for each buffer that packets come from.

#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "mad/sim/arbitration/network.h"

namespace smd::sim {

using LaneIndex = std::uint32_t;
using QueueIndex = std::uint32_t;
inline constexpr LaneIndex kNoLane = std::numeric_limits<LaneIndex>::max();

/// A packet in a queue or on a link.
struct QueuedPacket {
  std::uint32_t flow = 0;
  std::uint32_t step = 0;  ///< of its way, that it takes next or is on
};

/// Packets that leave by one lane and have come by one other (they lie in that one's buffer), or a flow at
/// its source.
struct LaneQueue {
  LaneIndex lane = kNoLane;
  LaneIndex from = kNoLane;  ///< none: a source
  std::deque<QueuedPacket> packets{};
  std::uint32_t flow = 0;  ///< of a source
  Picoseconds due = 0;     ///< of a source: when its next packet is there
};

struct Lane {
  std::uint32_t channel = 0;
  Vl vl{};
  std::uint32_t credits = 0;       ///< blocks that the buffer has, all together
  std::uint32_t free = 0;          ///< blocks that may be sent now
  std::uint32_t held = 0;          ///< blocks that a blocked receiver holds
  bool served = true;              ///< some entry of the arbitration tables is for it
  bool blocked = false;            ///< leads to a receiver that takes nothing of the VL
  std::deque<QueueIndex> ready{};  ///< queues with a packet, the one whose turn it is first
};

/// What a flow looks like to the queues.
struct FlowSize {
  std::uint32_t bytes = 0, blocks = 0;  ///< of a packet with headers
  Picoseconds interval = 0;             ///< between packets; 0: no pause
};

class Queues {
 public:
  Queues(const Network& network, const SimulationSettings& settings);

  /// Lane and queue of a step of a flow.
  LaneIndex lane_at(QueuedPacket at) const { return lane_of_[first_step_[at.flow] + at.step]; }
  QueueIndex queue_at(QueuedPacket at) const { return queue_of_[first_step_[at.flow] + at.step]; }
  /// True on the last step of the flow: the packet leaves the network after it.
  bool last(QueuedPacket at) const { return at.step + 1 == first_step_[at.flow + 1] - first_step_[at.flow]; }
  /// First packet of a queue that has one.
  QueuedPacket front(const LaneQueue& queue) const {
    return queue.from == kNoLane ? QueuedPacket{.flow = queue.flow, .step = 0} : queue.packets.front();
  }
  /// Blocks of the packet that has its turn on the lane; 0: there is none.
  std::uint32_t front_blocks(const Lane& lane) const {
    return lane.ready.empty() ? 0 : sizes[front(queues[lane.ready.front()]).flow].blocks;
  }
  /// Lanes of a channel: first and one behind the last.
  LaneIndex first_lane(std::uint32_t channel) const { return first_lane_[channel]; }

  std::vector<Lane> lanes;  ///< ascending by channel and VL
  std::vector<LaneQueue> queues;
  std::vector<FlowSize> sizes;  ///< by flow

 private:
  void make_lanes(const Network& network, const SimulationSettings& settings);
  void make_queues(const Network& network);

  std::vector<LaneIndex> first_lane_;
  std::vector<std::size_t> first_step_;  ///< by flow; one more at the end
  std::vector<LaneIndex> lane_of_;       ///< by step of all flows
  std::vector<QueueIndex> queue_of_;
};

}  // namespace smd::sim
