// SPDX-License-Identifier: Apache-2.0
#pragma once
// A stop watch for reports: times are reported, never decided by.

#include <chrono>

namespace smd::sm::inline common {

/// Milliseconds since the last call.
class Stopwatch {
 public:
  /// Steady time, with fractions; the first call counts from the construction.
  double operator()() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double, std::milli> lap = now - last_;
    last_ = now;
    return lap.count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace smd::sm::inline common
