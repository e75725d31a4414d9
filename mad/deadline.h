// SPDX-License-Identifier: Apache-2.0
#pragma once
// A limit in time for what a scope does.

#include <functional>
#include <utility>

#include "mad/clock.h"

namespace smd::mad {

/// Calls `end` once when the time is over, as long as it lives: it closes what the scope waits for. On the
/// clock's thread; what `end` uses and the clock outlive it.
class Deadline {
 public:
  Deadline(Clock& clock, Duration time, std::move_only_function<void()> end)
      : clock_(clock), timer_(clock.call_at(clock.now() + time, [this, end = std::move(end)]() mutable {
          over_ = true;
          end();
        })) {}
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline() { clock_.cancel(timer_); }
  bool over() const { return over_; }  ///< `end` was called

 private:
  Clock& clock_;
  bool over_ = false;
  Clock::TimerId timer_;
};

}  // namespace smd::mad
