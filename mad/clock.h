// SPDX-License-Identifier: Apache-2.0
#pragma once
// Time as an argument: the daemon runs on RealClock, tests on a VirtualClock that jumps.

#include <chrono>
#include <cstdint>
#include <functional>

#include "mad/asio.h"

namespace smd::mad {

using Duration = std::chrono::nanoseconds;
/// Since an arbitrary start; monotonic. Virtual clocks start at zero.
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

/// Owns the timers of one io_context. All calls on its thread.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  using TimerId = std::uint64_t;  ///< never 0
  /// Monotonic time; its epoch is the clock's own, so that only differences mean something.
  virtual TimePoint now() const = 0;
  /// The same, but it also counts the time in which the machine was suspended (CLOCK_BOOTTIME).
  virtual TimePoint uptime() const { return now(); }
  /// Calls `fire` once from the io_context, at or after `at`; equal deadlines in the order of the calls.
  virtual TimerId call_at(TimePoint at, std::move_only_function<void()> fire) = 0;
  /// The timer will not fire any more; unknown ids are ignored.
  virtual void cancel(TimerId id) = 0;

  /// Suspends until `at`. Cancellable: throws nothing, returns false when cancelled, true when it is time.
  asio::awaitable<bool> until(TimePoint at);
  /// As until(), from now; not positive: at once.
  asio::awaitable<bool> sleep(Duration for_) { return until(now() + for_); }
};

}  // namespace smd::mad
