// SPDX-License-Identifier: Apache-2.0
#include "smd/daemon/systemd.h"

#include <fmt/format.h>
#include <systemd/sd-daemon.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>

namespace smd::daemon {

void notify_ready() { sd_notify(0, "READY=1"); }

void notify_stopping() { sd_notify(0, "STOPPING=1"); }

/// systemd 253 and later want CLOCK_MONOTONIC's time beside it, so that it can tell an old READY from a new.
void notify_reloading() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const auto micros = static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1'000;
  sd_notify(0, fmt::format("RELOADING=1\nMONOTONIC_USEC={}", micros).c_str());
}

void notify_status(const std::string& status) {
  auto line = "STATUS=" + status;
  std::ranges::replace(line, '\n', ' ');
  sd_notify(0, line.c_str());
}

void notify_alive() { sd_notify(0, "WATCHDOG=1"); }

std::optional<mad::Duration> watchdog() {
  std::uint64_t micros = 0;
  if (sd_watchdog_enabled(0, &micros) <= 0 || micros == 0) return std::nullopt;
  return std::chrono::microseconds(micros);
}

}  // namespace smd::daemon
