// SPDX-License-Identifier: Apache-2.0
#pragma once
// What happens next in a simulation of data packets.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "mad/sim/arbitration/queues.h"

namespace smd::sim {

/// What happens in a simulation of data packets.
enum class PacketEvent : std::uint8_t {
  sent,     ///< a channel has sent the last byte of a packet
  offered,  ///< a flow with a rate has its next packet
  arrived,  ///< a packet is in the buffer at the other end
  credited  ///< blocks of a buffer are known to be free
};

struct Happening {
  Picoseconds at = 0;
  std::uint64_t order = 0;  ///< of the calls
  PacketEvent kind = PacketEvent::sent;
  std::uint32_t index = 0;  ///< channel, queue or lane
  QueuedPacket packet{};
  std::uint32_t blocks = 0;
  friend bool operator>(const Happening& a, const Happening& b) {
    return std::pair(a.at, a.order) > std::pair(b.at, b.order);
  }
};

/// Events by time, those of one time in the order of the calls. Two of three are due one delay after the
/// call, and so come in the order of their calls: these need no heap.
class Timeline {
 public:
  explicit Timeline(Picoseconds delay) : delay_(delay) {}
  /// Time of the last event that next() has returned.
  Picoseconds now() const { return now_; }
  /// At `happening.at`.
  void at(Happening happening) {
    happening.order = order_++;
    heap_.push_back(happening);
    std::ranges::push_heap(heap_, std::greater{});
  }
  /// One delay from now.
  void after_delay(Happening happening) {
    happening.at = now_ + delay_;
    happening.order = order_++;
    delayed_.push_back(happening);
  }
  /// The first event; nothing: there is none any more.
  std::optional<Happening> next() {
    const bool any = !heap_.empty(), late = !delayed_.empty();
    if (!any && !late) return std::nullopt;
    Happening first;
    if (late && (!any || heap_.front() > delayed_.front())) {
      first = delayed_.front();
      delayed_.pop_front();
    } else {
      std::ranges::pop_heap(heap_, std::greater{});
      first = heap_.back();
      heap_.pop_back();
    }
    now_ = first.at;
    return first;
  }

 private:
  Picoseconds delay_, now_ = 0;
  std::uint64_t order_ = 0;
  std::vector<Happening> heap_;
  std::deque<Happening> delayed_;
};

}  // namespace smd::sim
