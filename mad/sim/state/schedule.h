// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the fabric does by itself later: packets under way, links that train, traps sent again.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "mad/clock.h"

namespace smd::sim {

/// A heap by (time, order of the calls). Events cannot be taken back: they look at the state when they come.
class Schedule {
 public:
  using Event = std::move_only_function<void()>;

  /// A time that has passed is due at once; equal times in the order of the calls.
  void at(mad::TimePoint due, Event event) {
    heap_.push_back({due, next_++, std::move(event)});
    std::ranges::push_heap(heap_, later);
  }
  /// Due time of the first event; nothing where there is none.
  std::optional<mad::TimePoint> next() const {
    if (heap_.empty()) return std::nullopt;
    return heap_.front().due;
  }
  /// Takes the first event out; call only where next() has a value.
  Event pop() {
    std::ranges::pop_heap(heap_, later);
    Event event = std::move(heap_.back().event);
    heap_.pop_back();
    return event;
  }

 private:
  struct Entry {
    mad::TimePoint due;
    std::uint64_t order;
    Event event;
  };
  static bool later(const Entry& a, const Entry& b) {
    return a.due != b.due ? a.due > b.due : a.order > b.order;
  }
  std::vector<Entry> heap_;
  std::uint64_t next_ = 0;
};

}  // namespace smd::sim
