// SPDX-License-Identifier: Apache-2.0
#include "mad/virtual_clock.h"

#include <algorithm>
#include <utility>

namespace smd::mad {

Clock::TimerId VirtualClock::call_at(TimePoint at, std::move_only_function<void()> fire) {
  return timers_.add(std::max(at, now_), std::move(fire));
}

std::optional<TimePoint> VirtualClock::next() const {
  if (timers_.empty()) return std::nullopt;
  return timers_.next();
}

bool VirtualClock::advance() {
  if (timers_.empty()) return false;
  now_ = timers_.next();
  timers_.run_due(now_);
  return true;
}

}  // namespace smd::mad
