// SPDX-License-Identifier: Apache-2.0
#pragma once
// The timers of a clock, earliest first. Cancelling takes them out: nothing stale stays behind.

#include <cstdint>
#include <vector>

#include "mad/clock.h"

namespace smd::mad {

class TimerHeap {
 public:
  using Fire = std::move_only_function<void()>;

  /// Adds a timer; equal deadlines fire in the order of the calls. The ID is never 0.
  Clock::TimerId add(TimePoint at, Fire fire);
  /// Ids that fired, were cancelled or never were are ignored.
  void cancel(Clock::TimerId id);

  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  /// Deadline of the first timer; only where there is one.
  TimePoint next() const { return heap_.front().at; }

  /// Calls what is due at `now`, in order of (deadline, call); what those calls add waits for the next run.
  void run_due(TimePoint now);

 private:
  struct Entry {
    TimePoint at;
    std::uint64_t sequence = 0;
    std::uint32_t slot = 0;
    bool before(const Entry& other) const {
      return at != other.at ? at < other.at : sequence < other.sequence;
    }
  };
  struct Slot {
    std::uint32_t generation = 1;  ///< upper half of the id: never 0
    std::uint32_t position = 0;    ///< in heap_; only while in use
    bool used = false;
    Fire fire;
  };

  void place(std::size_t position, const Entry& entry);
  void sift_up(std::size_t position);
  void sift_down(std::size_t position);
  Fire take(std::size_t position);

  std::vector<Entry> heap_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::uint64_t sequence_ = 0;
};

}  // namespace smd::mad
