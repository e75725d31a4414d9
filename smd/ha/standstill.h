// SPDX-License-Identifier: Apache-2.0
#pragma once
// Detects that this process has stood still (SIGSTOP, a suspended machine, a starved processor): another SM
// may have become master meanwhile, and nothing may be written before that is known.

#include <cstdint>
#include <functional>

#include "mad/clock.h"

namespace smd::sm::inline availability {

/// A timer that beats four times within `limit`; a beat that comes later than `limit` is a standstill. Time
/// is Clock::uptime(). On the io_context's thread; `clock` outlives it.
class Standstill {
 public:
  /// `found` is called once for each standstill, with how long it took, before check() returns or from a
  /// timer.
  using Found = std::function<void(mad::Duration took)>;
  /// Not started: see start().
  Standstill(mad::Clock& clock, mad::Duration limit, Found found);
  ~Standstill();
  Standstill(const Standstill&) = delete;
  Standstill& operator=(const Standstill&) = delete;

  /// Begins to beat; before that check() finds nothing.
  void start();
  /// In force at once; the time between beats follows from the next beat on.
  void set_limit(mad::Duration limit) { limit_ = limit; }
  /// Whether the last beat is overdue, without waiting for the next one; calls `found` if so.
  void check();
  /// How many standstills have been found.
  std::uint64_t count() const { return count_; }

 private:
  void beat();

  mad::Clock& clock_;
  mad::Duration limit_;
  Found found_;
  mad::TimePoint last_{};
  mad::Clock::TimerId timer_ = 0;  ///< 0: not started
  std::uint64_t count_ = 0;
};

}  // namespace smd::sm::inline availability
