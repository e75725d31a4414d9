// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/arbitration/stalls.h"

#include <algorithm>

namespace smd::sim {
namespace {

class Stalled {
 public:
  /// `all_well`: as if no receiver were blocked, and all VLs were served.
  Stalled(const Queues& queues, bool all_well) : queues_(queues), stalled_(queues.lanes.size()) {
    for (LaneIndex lane = 0; lane < stalled_.size(); ++lane)
      stalled_[lane] = !queues.lanes[lane].ready.empty();
    while (any_moves(all_well)) {
    }
  }
  bool operator[](LaneIndex lane) const { return stalled_[lane]; }

  /// Lanes that the buffer of this one waits for, itself stalled: in the order of the queues.
  std::vector<std::vector<LaneIndex>> waits_for() const {
    std::vector<std::vector<LaneIndex>> waits(stalled_.size());
    for (const auto& queue : queues_.queues) {
      if (queue.from == kNoLane || queue.packets.empty()) continue;
      if (stalled_[queue.from] && stalled_[queue.lane]) waits[queue.from].push_back(queue.lane);
    }
    return waits;
  }

 private:
  bool any_moves(bool all_well) {
    std::vector<std::uint64_t> stuck(stalled_.size());  // blocks of a lane's buffer that never become free
    for (LaneIndex lane = 0; lane < stalled_.size(); ++lane)
      stuck[lane] = all_well ? 0 : queues_.lanes[lane].held;
    for (const auto& queue : queues_.queues) {
      if (queue.from == kNoLane || !stalled_[queue.lane]) continue;
      for (const auto& packet : queue.packets) stuck[queue.from] += queues_.sizes[packet.flow].blocks;
    }
    bool any = false;
    for (LaneIndex lane = 0; lane < stalled_.size(); ++lane) {
      const auto& here = queues_.lanes[lane];
      if (!all_well && !here.served) continue;
      if (!stalled_[lane] || stuck[lane] + queues_.front_blocks(here) > here.credits) continue;
      stalled_[lane] = false;
      any = true;
    }
    return any;
  }

  const Queues& queues_;
  std::vector<bool> stalled_;
};

/// Follows the first lane that each waits for, from each lane once. In a deadlock every lane waits for
/// another.
std::vector<CreditLoop> loops_in(const std::vector<std::vector<LaneIndex>>& waits,
                                 std::vector<bool>& in_loop) {
  std::vector<CreditLoop> loops;
  std::vector<std::size_t> seen(waits.size());  // the round that has come by
  for (LaneIndex start = 0; start < waits.size(); ++start) {
    std::vector<LaneIndex> way;
    auto at = start;
    while (seen[at] == 0 && !waits[at].empty()) {
      seen[at] = start + std::size_t{1};
      way.push_back(at);
      at = waits[at].front();
    }
    if (way.empty() || seen[at] != start + std::size_t{1}) continue;
    const auto first = std::ranges::find(way, at);
    CreditLoop loop(first, way.end());
    std::ranges::rotate(loop, std::ranges::min_element(loop));
    for (const auto lane : loop) in_loop[lane] = true;
    loops.push_back(std::move(loop));
  }
  return loops;
}

}  // namespace

Stalls find_stalls(const Queues& queues) {
  const Stalled now(queues, false), for_ever(queues, true);
  Stalls found;
  std::vector<bool> in_loop(queues.lanes.size());
  found.loops = loops_in(for_ever.waits_for(), in_loop);
  for (LaneIndex lane = 0; lane < queues.lanes.size(); ++lane) {
    if (in_loop[lane] || !now[lane]) continue;
    (for_ever[lane] ? found.behind : found.held).push_back(lane);
  }
  return found;
}

}  // namespace smd::sim
