// SPDX-License-Identifier: Apache-2.0
#pragma once
// A stop watch for reports: times are reported, never decided by.

#include <chrono>
#include <utility>

#include "mad/clock.h"

namespace smd::sm::inline common {

/// Milliseconds since the last call.
class Stopwatch {
 public:
  /// By steady time.
  Stopwatch() : last_(now()) {}
  /// By this clock, which outlives the stopwatch.
  explicit Stopwatch(const mad::Clock& clock) : clock_(&clock), last_(now()) {}
  /// With fractions; the first call counts from the construction.
  double operator()() {
    const auto time = now();
    const std::chrono::duration<double, std::milli> lap = time - std::exchange(last_, time);
    return lap.count();
  }

 private:
  mad::TimePoint now() const { return clock_ != nullptr ? clock_->now() : std::chrono::steady_clock::now(); }
  const mad::Clock* clock_ = nullptr;  ///< null: steady time
  mad::TimePoint last_;
};

}  // namespace smd::sm::inline common
