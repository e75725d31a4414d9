// SPDX-License-Identifier: Apache-2.0
#include "mad/real_clock.h"

#include <ctime>
#include <utility>

namespace smd::mad {

RealClock::RealClock(asio::io_context& io) : timer_(io), self_(std::make_shared<RealClock*>(this)) {}

RealClock::~RealClock() { *self_ = nullptr; }

TimePoint RealClock::uptime() const {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return TimePoint(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

Clock::TimerId RealClock::call_at(TimePoint at, std::move_only_function<void()> fire) {
  const auto id = timers_.add(at, std::move(fire));
  arm();
  return id;
}

void RealClock::cancel(TimerId id) {
  timers_.cancel(id);
  // An early wake-up costs nothing, so only the last timer's end is told to Asio (run() may return then).
  if (!timers_.empty() || armed_ == TimePoint::max()) return;
  armed_ = TimePoint::max();
  timer_.cancel();
}

void RealClock::arm() {
  if (timers_.empty() || timers_.next() >= armed_) return;
  armed_ = timers_.next();
  timer_.expires_at(armed_);
  timer_.async_wait([self = self_](error_code error) {
    if (!error && *self != nullptr) (*self)->fired();
  });
}

void RealClock::fired() {
  armed_ = TimePoint::max();
  timers_.run_due(now());
  arm();
}

}  // namespace smd::mad
