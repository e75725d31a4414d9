// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long to wait between tries.

#include <algorithm>

#include "mad/clock.h"

namespace smd::mad {

/// Doubles the wait from try to try.
class Backoff {
 public:
  Backoff(Duration first, Duration longest) : first_(first), longest_(std::max(first, longest)) {}

  /// `first` after the construction and after reset(), then twice the one before, at most `longest`.
  Duration next() { return value_ = std::clamp(value_ * 2, first_, longest_); }
  /// The last try was good.
  void reset() { value_ = {}; }
  /// What next() has given; zero after the construction and after reset().
  Duration value() const { return value_; }

 private:
  Duration first_, longest_;
  Duration value_{};
};

}  // namespace smd::mad
