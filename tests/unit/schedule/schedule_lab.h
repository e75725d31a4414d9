// SPDX-License-Identifier: Apache-2.0
#pragma once
// A scheduler in virtual time, one hour after the start: all that was before it is long past.

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "mad/asio.h"
#include "mad/task_group.h"
#include "mad/virtual_clock.h"
#include "smd/schedule/scheduler.h"

namespace smd::test {

inline constexpr Guid kNode{0x10}, kOther{0x20};

inline config::SubnetConfig schedule_config() {
  config::SubnetConfig config;
  config.sweep.interval = std::chrono::seconds(10);
  config.sweep.settle = std::chrono::milliseconds(200);
  config.links.subnet_timeout = 18;  // 4.096 us * 2^18 = 1.07 s
  return config;
}

struct ScheduleLab {
  explicit ScheduleLab(const config::SubnetConfig& config = schedule_config())
      : scheduler(clock, agenda, config) {
    go(std::chrono::hours(1));
  }
  /// Lets this much time pass, with all that happens in it.
  void go(mad::Duration time) {
    const auto end = clock.now() + time;
    clock.call_at(end, [] {});
    settle();
    while (clock.now() < end) {
      clock.advance();
      settle();
    }
  }
  /// Runs what is ready, without time.
  void settle() {
    io.restart();
    io.poll();
  }
  /// Milliseconds from now; 0: now, or before; nothing: never.
  std::optional<std::int64_t> in_ms(std::optional<mad::TimePoint> time) const {
    if (!time) return std::nullopt;
    return std::max<std::int64_t>(0, (*time - clock.now()) / std::chrono::milliseconds(1));
  }

  asio::io_context io;
  mad::VirtualClock clock;
  sm::Agenda agenda;
  sm::Scheduler scheduler;
};

}  // namespace smd::test
