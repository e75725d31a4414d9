// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/arbitration/simulation.h"

#include <algorithm>
#include <utility>

#include "mad/base/bug.h"
#include "mad/sim/arbitration/queues.h"
#include "mad/sim/arbitration/stalls.h"
#include "mad/sim/arbitration/timeline.h"

namespace smd::sim {
namespace {

struct Sender {
  VlArbiter arbiter;
  bool busy = false;
  QueuedPacket sending{};  ///< while it is busy
};

class Simulation {
 public:
  Simulation(const Network& network, const SimulationSettings& settings)
      : network_(network), settings_(settings), queues_(network, settings), timeline_(settings.delay) {
    for (const auto& channel : network.channels) senders_.push_back({VlArbiter(channel.tables, channel.vls)});
    outcome_.flows.resize(network.flows.size());
    outcome_.busy.resize(network.channels.size());
    for (const auto& lane : queues_.lanes)
      outcome_.lanes.push_back({.channel = lane.channel, .vl = lane.vl, .credits = lane.credits});
  }

  Outcome run() {
    counting_ = settings_.warm_up == 0;
    for (QueueIndex queue = 0; queue < queues_.queues.size(); ++queue) {
      if (queues_.queues[queue].from == kNoLane)
        queues_.lanes[queues_.queues[queue].lane].ready.push_back(queue);
    }
    for (std::uint32_t channel = 0; channel < senders_.size(); ++channel) send(channel);
    outcome_.ending = Ending::nothing_moves;
    while (const auto happening = timeline_.next()) {
      if (counting_ && settings_.longest != 0 && timeline_.now() - began_ >= settings_.longest) {
        outcome_.ending = Ending::time;
        break;
      }
      happens(*happening);
      if (counted_ < settings_.packets) continue;
      outcome_.ending = Ending::counted;
      break;
    }
    finish();
    return std::move(outcome_);
  }

 private:
  void happens(const Happening& happening) {
    switch (happening.kind) {
      case PacketEvent::sent:
        return has_sent(happening.index);
      case PacketEvent::offered:
        return is_ready(happening.index);
      case PacketEvent::arrived:
        return has_arrived(happening.packet);
      case PacketEvent::credited:
        return is_credited(happening.index, happening.blocks);
    }
  }

  /// Where the port is free: the next packet by the arbiter's choice.
  void send(std::uint32_t channel) {
    auto& sender = senders_[channel];
    if (sender.busy) return;
    const auto first = queues_.first_lane(channel), end = queues_.first_lane(channel + 1);
    VlSet ready = 0;
    for (auto lane = first; lane < end; ++lane) {
      const auto& here = queues_.lanes[lane];
      const auto blocks = queues_.front_blocks(here);
      if (blocks != 0 && blocks <= here.free) ready = static_cast<VlSet>(ready | vl_bit(here.vl));
    }
    const auto vl = sender.arbiter.next(ready);
    if (!vl) return;
    auto lane = first;
    while (queues_.lanes[lane].vl != *vl) ++lane;
    const auto packet = take(lane);
    const auto bytes = queues_.sizes[packet.flow].bytes;
    sender.arbiter.sent(bytes);
    sender.busy = true;
    sender.sending = packet;
    const auto time = time_on_link(bytes, network_.channels[channel].mbps);
    count(outcome_.lanes[lane].sent, bytes);
    if (counting_) outcome_.busy[channel] += time;
    timeline_.at({.at = timeline_.now() + time, .kind = PacketEvent::sent, .index = channel});
  }

  /// The packet whose turn it is, with its credits; queues of a lane take turns.
  QueuedPacket take(LaneIndex index) {
    auto& lane = queues_.lanes[index];
    const auto at = lane.ready.front();
    auto& queue = queues_.queues[at];
    const auto packet = queues_.front(queue);
    const auto& size = queues_.sizes[packet.flow];
    lane.ready.pop_front();
    SMD_ASSERT(lane.free >= size.blocks);
    lane.free -= size.blocks;
    outcome_.lanes[index].most_used = std::max(outcome_.lanes[index].most_used, lane.credits - lane.free);
    ++outcome_.on_links;
    if (queue.from != kNoLane) {
      queue.packets.pop_front();
      if (!queue.packets.empty()) lane.ready.push_back(at);
      return packet;
    }
    ++outcome_.flows[packet.flow].all_sent;
    queue.due += size.interval;
    if (queue.due <= timeline_.now()) {
      lane.ready.push_back(at);
    } else {
      timeline_.at({.at = queue.due, .kind = PacketEvent::offered, .index = at});
    }
    return packet;
  }

  void has_sent(std::uint32_t channel) {
    const auto packet = senders_[channel].sending;
    senders_[channel].busy = false;
    if (packet.step > 0) give_back({.flow = packet.flow, .step = packet.step - 1});
    timeline_.after_delay({.kind = PacketEvent::arrived, .packet = packet});
    send(channel);
  }

  /// The buffer that the packet lay in, behind the lane that it came by, is free.
  void give_back(QueuedPacket packet) {
    timeline_.after_delay({.kind = PacketEvent::credited,
                           .index = queues_.lane_at(packet),
                           .blocks = queues_.sizes[packet.flow].blocks});
  }

  void has_arrived(QueuedPacket packet) {
    --outcome_.on_links;
    if (queues_.last(packet)) return is_received(packet);
    const QueuedPacket next{.flow = packet.flow, .step = packet.step + 1};
    const auto index = queues_.queue_at(next);
    auto& queue = queues_.queues[index];
    queue.packets.push_back(next);
    if (queue.packets.size() == 1) is_ready(index);
  }

  void is_received(QueuedPacket packet) {
    auto& lane = queues_.lanes[queues_.lane_at(packet)];
    if (lane.blocked) {
      lane.held += queues_.sizes[packet.flow].blocks;
      ++held_packets_;
      return;
    }
    auto& flow = outcome_.flows[packet.flow];
    ++flow.all_received;
    ++received_;
    count(flow.received, queues_.sizes[packet.flow].bytes);
    if (counting_) ++counted_;
    if (!counting_ && received_ == settings_.warm_up) {
      counting_ = true;
      began_ = timeline_.now();
    }
    give_back(packet);
  }

  void is_ready(QueueIndex index) {
    auto& lane = queues_.lanes[queues_.queues[index].lane];
    lane.ready.push_back(index);
    send(lane.channel);
  }

  void is_credited(LaneIndex index, std::uint32_t blocks) {
    auto& lane = queues_.lanes[index];
    lane.free += blocks;
    SMD_ASSERT(lane.free <= lane.credits);
    send(lane.channel);
  }

  void count(PacketCount& counted, std::uint32_t bytes) const {
    if (!counting_) return;
    ++counted.packets;
    counted.bytes += bytes;
  }

  void finish() {
    outcome_.elapsed = counting_ ? timeline_.now() - began_ : 0;
    outcome_.in_buffers = held_packets_;
    for (const auto& queue : queues_.queues) {
      outcome_.in_buffers += queue.packets.size();
      outcome_.lanes[queue.lane].waiting += queue.packets.size();
    }
    auto stalls = find_stalls(queues_);
    outcome_.held = std::move(stalls.held);
    outcome_.loops = std::move(stalls.loops);
    outcome_.behind = std::move(stalls.behind);
  }

  const Network& network_;
  SimulationSettings settings_;
  Queues queues_;
  Timeline timeline_;
  std::vector<Sender> senders_;
  Outcome outcome_;
  bool counting_ = false;
  Picoseconds began_ = 0;
  std::uint64_t received_ = 0, counted_ = 0, held_packets_ = 0;
};

}  // namespace

Outcome simulate(const Network& network, const SimulationSettings& settings) {
  return Simulation(network, settings).run();
}

}  // namespace smd::sim
