// SPDX-License-Identifier: Apache-2.0
#pragma once
// Resend times of all open requests. Nearly all of them are dropped again within microseconds, so adding and
// removing must cost nothing: a ring of buckets, and one timer of the clock for the first that is not empty.

#include <array>
#include <cstdint>

#include "mad/clock.h"

namespace smd::mad {

/// What waits in a Wheel derives from this.
struct WheelItem {
  TimePoint deadline{};
  WheelItem* next = nullptr;
  WheelItem* previous = nullptr;
  bool waiting = false;
};

/// Deadlines are met at the next multiple of kTick, never early.
class Wheel {
 public:
  static constexpr Duration kTick = std::chrono::milliseconds(2);

  /// `due` is called on the io_context's thread when deadlines have passed. The clock outlives the wheel.
  explicit Wheel(Clock& clock, std::move_only_function<void()> due) : clock_(clock), due_(std::move(due)) {}
  Wheel(const Wheel&) = delete;
  Wheel& operator=(const Wheel&) = delete;
  ~Wheel();

  /// `item` stays where it is until it is removed or popped.
  void add(WheelItem& item, TimePoint deadline);
  /// Takes the item out; an item that does not wait is ignored.
  void remove(WheelItem& item);
  /// One item whose deadline is not after `now`, in no order but a repeatable one; null where there is none.
  /// `due` is called when there is something to pop. One round of calls has one `now`: an item that is put
  /// back until its deadline, because that is later than the caller's time, would be popped again for ever.
  WheelItem* pop_due(TimePoint now);

 private:
  static constexpr std::size_t kBuckets = 1024;
  using Tick = std::int64_t;
  static Tick tick_of(TimePoint at);  ///< the first tick at or after `at`
  static std::size_t bucket_of(Tick tick) { return static_cast<std::size_t>(tick) % kBuckets; }
  void arm();
  void fired();

  Clock& clock_;
  std::move_only_function<void()> due_;
  struct Bucket {
    WheelItem* first = nullptr;
    WheelItem* last = nullptr;
  };
  std::array<Bucket, kBuckets> buckets_{};
  std::size_t items_ = 0;
  Tick next_ = 0;   ///< no bucket before this tick has anything that is due
  Tick armed_ = 0;  ///< tick of timer_, where that is not 0
  Clock::TimerId timer_ = 0;
};

}  // namespace smd::mad
