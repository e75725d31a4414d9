// SPDX-License-Identifier: Apache-2.0
#pragma once
// The clock of the daemon: one Asio timer for all that wait.

#include <memory>

#include "mad/clock.h"
#include "mad/timer_heap.h"

namespace smd::mad {

/// Declare it after its io_context. Timers keep io_context::run() from returning, as Asio's own do.
class RealClock final : public Clock {
 public:
  /// Timers fire on the thread that runs `io`.
  explicit RealClock(asio::io_context& io);
  ~RealClock() override;

  TimePoint now() const override { return std::chrono::steady_clock::now(); }
  TimePoint uptime() const override;
  TimerId call_at(TimePoint at, std::move_only_function<void()> fire) override;
  void cancel(TimerId id) override;

 private:
  void arm();
  void fired();

  asio::steady_timer timer_;
  TimerHeap timers_;
  TimePoint armed_ = TimePoint::max();  ///< when timer_ fires; max: it is not set
  std::shared_ptr<RealClock*> self_;    ///< outlived by handlers that Asio has queued already
};

}  // namespace smd::mad
