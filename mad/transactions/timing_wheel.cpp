// SPDX-License-Identifier: Apache-2.0
#include "mad/transactions/timing_wheel.h"

#include <algorithm>

namespace smd::mad {

Wheel::~Wheel() {
  if (timer_ != 0) clock_.cancel(timer_);
}

Wheel::Tick Wheel::tick_of(TimePoint at) {
  return (at.time_since_epoch().count() + kTick.count() - 1) / kTick.count();
}

void Wheel::add(WheelItem& item, TimePoint deadline) {
  const auto tick = tick_of(deadline);
  if (items_ == 0) next_ = tick;
  next_ = std::min(next_, tick);
  auto& bucket = buckets_[bucket_of(tick)];
  item.deadline = deadline;
  item.previous = bucket.last;
  item.next = nullptr;
  item.waiting = true;
  (bucket.last != nullptr ? bucket.last->next : bucket.first) = &item;
  bucket.last = &item;
  ++items_;
  if (timer_ == 0 || tick < armed_) arm();
}

void Wheel::remove(WheelItem& item) {
  if (!item.waiting) return;
  auto& bucket = buckets_[bucket_of(tick_of(item.deadline))];
  (item.next != nullptr ? item.next->previous : bucket.last) = item.previous;
  (item.previous != nullptr ? item.previous->next : bucket.first) = item.next;
  item.waiting = false;
  --items_;
}

WheelItem* Wheel::pop_due(TimePoint now) {
  const Tick last = now.time_since_epoch() / kTick;
  // After a long sleep once round is enough: every bucket has been looked at then.
  next_ = std::max(next_, last - static_cast<Tick>(kBuckets) + 1);
  for (; items_ > 0 && next_ <= last; ++next_) {
    // A bucket also holds what is due a turn of the wheel later.
    auto* item = buckets_[bucket_of(next_)].first;
    while (item != nullptr && item->deadline > now) item = item->next;
    if (item == nullptr) continue;
    remove(*item);
    return item;
  }
  return nullptr;
}

void Wheel::arm() {
  if (items_ == 0) return;
  Tick tick = next_;
  while (buckets_[bucket_of(tick)].first == nullptr) ++tick;
  next_ = tick;
  if (timer_ != 0) clock_.cancel(timer_);
  armed_ = tick;
  timer_ = clock_.call_at(TimePoint{kTick * tick}, [this] { fired(); });
}

void Wheel::fired() {
  timer_ = 0;
  due_();
  if (timer_ == 0) arm();
}

}  // namespace smd::mad
