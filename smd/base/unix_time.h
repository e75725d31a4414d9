// SPDX-License-Identifier: Apache-2.0
#pragma once
// The wall clock, for times that people and other machines read.

#include <chrono>
#include <cstdint>

namespace smd::sm::inline common {

/// Seconds since 1970.
inline std::int64_t unix_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

}  // namespace smd::sm::inline common
