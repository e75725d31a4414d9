// SPDX-License-Identifier: Apache-2.0
#include "mad/clock.h"

#include <utility>

#include "mad/suspend.h"

namespace smd::mad {

asio::awaitable<bool> Clock::until(TimePoint at) {
  TimerId timer = 0;
  std::move_only_function<void(SuspensionPtr)> begin = [this, at, &timer](SuspensionPtr sleeper) {
    timer = call_at(at, [sleeper = std::move(sleeper)] { sleeper->resume(true); });
  };
  const bool in_time = co_await suspend(std::move(begin));
  if (!in_time) cancel(timer);
  co_return in_time;
}

}  // namespace smd::mad
