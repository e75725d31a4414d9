// SPDX-License-Identifier: Apache-2.0
#pragma once
// Time that only moves when its owner says so: what takes a day on hardware takes no time in a test.

#include <optional>

#include "mad/clock.h"
#include "mad/timer_heap.h"

namespace smd::mad {

/// Starts at zero. Declare it after its io_context: coroutines that still wait die with the clock.
class VirtualClock final : public Clock {
 public:
  TimePoint now() const override { return now_; }
  TimerId call_at(TimePoint at, std::move_only_function<void()> fire) override;
  void cancel(TimerId id) override { timers_.cancel(id); }

  /// Deadline of the first timer; nothing where none waits.
  std::optional<TimePoint> next() const;
  /// Jumps to the next deadline and runs all that is due then; false (and no change) where no timer waits.
  /// Run the io_context until nothing is left before each call.
  bool advance();
  /// Timers that wait: how many a deadlock report has to explain.
  std::size_t waiting() const { return timers_.size(); }

 private:
  TimePoint now_{};
  TimerHeap timers_;
};

}  // namespace smd::mad
