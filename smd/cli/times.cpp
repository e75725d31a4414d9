// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/times.h"

#include <fmt/format.h>

#include <chrono>

#include "config/scalars.h"

namespace smd::cli {

std::optional<std::int64_t> seconds_of(std::string_view text) {
  constexpr std::chrono::days kMost{36'600};
  const auto time = config::parse_duration(text);
  if (!time || *time > kMost) return std::nullopt;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(*time);
  if (seconds != *time || seconds.count() == 0) return std::nullopt;
  return seconds.count();
}

std::string why_no_time(const std::string& text) {
  return seconds_of(text) ? std::string()
                          : fmt::format("{}: not a time such as 45s, 30m, 1h30m or 90d", text);
}

}  // namespace smd::cli
