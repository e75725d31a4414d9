// SPDX-License-Identifier: Apache-2.0
#pragma once
// Unsolicited MADs: so many a second, the rest is dropped and counted.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "mad/clock.h"
#include "mad/transactions/policy.h"
#include "mad/transport.h"

namespace smd::mad {

/// Hands on unsolicited MADs up to a rate, with bursts above it.
class Unsolicited {
 public:
  using Handler = std::move_only_function<void(Received&&)>;
  /// Copies unsolicited_rate (MADs a second) and unsolicited_burst (MADs); 0 counts as 1.
  explicit Unsolicited(const Policy& policy)
      : cost_(Duration{std::chrono::seconds(1)} / std::max(policy.unsolicited_rate, 1U)),
        depth_(cost_ * std::max(policy.unsolicited_burst, 1U)) {}

  /// Sets the handler, which replaces the one before; without one everything is dropped.
  void listen(Handler handler) { handler_ = std::move(handler); }

  /// Hands it to the handler; false where it was dropped: above the rate, or without a handler.
  bool take(Received&& received, TimePoint now) {
    // A bucket that leaks at the rate: full is a burst above it.
    const auto level = std::max(full_until_, now);
    if (!handler_ || level - now + cost_ > depth_) return false;
    full_until_ = level + cost_;
    handler_(std::move(received));
    return true;
  }

 private:
  Handler handler_;
  Duration cost_, depth_;
  TimePoint full_until_{};
};

}  // namespace smd::mad
