// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/arbitration/queues.h"

#include <algorithm>
#include <map>
#include <utility>

#include "mad/base/bug.h"

namespace smd::sim {
namespace {

FlowSize size_of(const Flow& flow) {
  const auto bytes = flow.payload + kHeaderBytes;
  return {.bytes = bytes,
          .blocks = blocks_of(bytes),
          .interval = flow.offered_mbps == 0 ? 0 : time_on_link(flow.payload, flow.offered_mbps)};
}

std::pair<std::uint32_t, Vl> place_of(const Step& step) { return {step.channel, step.vl}; }

}  // namespace

std::uint32_t default_credits(const Channel& channel, const SimulationSettings& settings) {
  const auto packets = settings.buffer_packets * blocks_of(channel.mtu + kHeaderBytes);
  const auto round_trip = 2 * settings.delay * channel.mbps / 8'000'000U;
  return packets + blocks_of(static_cast<std::uint32_t>(round_trip));
}

Queues::Queues(const Network& network, const SimulationSettings& settings) {
  make_lanes(network, settings);
  make_queues(network);
}

void Queues::make_lanes(const Network& network, const SimulationSettings& settings) {
  std::vector<std::pair<std::uint32_t, Vl>> places;
  for (const auto& flow : network.flows) {
    SMD_ASSERT(!flow.way.empty());
    for (const auto& step : flow.way) places.push_back(place_of(step));
  }
  std::ranges::sort(places);
  const auto [again, end] = std::ranges::unique(places);
  places.erase(again, end);
  for (const auto& [channel, vl] : places) {
    SMD_ASSERT(channel < network.channels.size() && vl.value() < 15);
    const auto& by = network.channels[channel];
    const auto credits = by.credits != 0 ? by.credits : default_credits(by, settings);
    lanes.push_back({.channel = channel,
                     .vl = vl,
                     .credits = credits,
                     .free = credits,
                     .held = 0,
                     .served = (VlArbiter(by.tables, by.vls).served() & vl_bit(vl)) != 0,
                     .blocked = (by.blocked & vl_bit(vl)) != 0});
  }
  for (std::uint32_t channel = 0; channel <= network.channels.size(); ++channel) {
    const auto first = std::ranges::lower_bound(places, channel, {}, [](const auto& p) { return p.first; });
    first_lane_.push_back(static_cast<LaneIndex>(first - places.begin()));
  }
  for (const auto& flow : network.flows) {
    first_step_.push_back(lane_of_.size());
    for (const auto& step : flow.way) {
      const auto at = std::ranges::lower_bound(places, place_of(step));
      lane_of_.push_back(static_cast<LaneIndex>(at - places.begin()));
    }
  }
  first_step_.push_back(lane_of_.size());
}

void Queues::make_queues(const Network& network) {
  std::map<std::pair<LaneIndex, LaneIndex>, QueueIndex> known;  // by the lanes from and to
  for (std::uint32_t flow = 0; flow < network.flows.size(); ++flow) {
    sizes.push_back(size_of(network.flows[flow]));
    for (auto step = first_step_[flow]; step < first_step_[flow + 1]; ++step) {
      const bool source = step == first_step_[flow];
      const auto from = source ? kNoLane : lane_of_[step - 1], to = lane_of_[step];
      const auto next = static_cast<QueueIndex>(queues.size());
      const auto index = source ? next : known.try_emplace({from, to}, next).first->second;
      if (index == next) queues.push_back({.lane = to, .from = from, .flow = flow});
      queue_of_.push_back(index);
    }
  }
}

}  // namespace smd::sim
