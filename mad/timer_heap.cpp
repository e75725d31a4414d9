// SPDX-License-Identifier: Apache-2.0
#include "mad/timer_heap.h"

#include <utility>

namespace smd::mad {

Clock::TimerId TimerHeap::add(TimePoint at, Fire fire) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const auto index = free_.back();
  free_.pop_back();
  auto& slot = slots_[index];
  slot.used = true;
  slot.fire = std::move(fire);
  heap_.emplace_back();
  place(heap_.size() - 1, Entry{.at = at, .sequence = sequence_++, .slot = index});
  sift_up(heap_.size() - 1);
  return Clock::TimerId{slot.generation} << 32U | index;
}

void TimerHeap::cancel(Clock::TimerId id) {
  const auto index = static_cast<std::uint32_t>(id);
  if (index >= slots_.size()) return;
  const auto& slot = slots_[index];
  if (!slot.used || slot.generation != static_cast<std::uint32_t>(id >> 32U)) return;
  // The closure dies only after the heap is whole again: its end may add or cancel other timers.
  const Fire dropped = take(slot.position);
}

void TimerHeap::run_due(TimePoint now) {
  const auto limit = sequence_;
  while (!heap_.empty() && heap_.front().at <= now && heap_.front().sequence < limit) {
    auto fire = take(0);
    fire();
  }
}

TimerHeap::Fire TimerHeap::take(std::size_t position) {
  const auto index = heap_[position].slot;
  auto& slot = slots_[index];
  Fire fire = std::move(slot.fire);
  slot.fire = nullptr;
  slot.used = false;
  if (++slot.generation == 0) slot.generation = 1;
  free_.push_back(index);

  const Entry last = heap_.back();
  heap_.pop_back();
  if (position < heap_.size()) {
    place(position, last);
    sift_up(position);
    sift_down(slots_[last.slot].position);
  }
  return fire;
}

void TimerHeap::place(std::size_t position, const Entry& entry) {
  heap_[position] = entry;
  slots_[entry.slot].position = static_cast<std::uint32_t>(position);
}

void TimerHeap::sift_up(std::size_t position) {
  const Entry entry = heap_[position];
  while (position > 0) {
    const auto parent = (position - 1) / 2;
    if (!entry.before(heap_[parent])) break;
    place(position, heap_[parent]);
    position = parent;
  }
  place(position, entry);
}

void TimerHeap::sift_down(std::size_t position) {
  const Entry entry = heap_[position];
  while (true) {
    auto child = 2 * position + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1].before(heap_[child])) ++child;
    if (!heap_[child].before(entry)) break;
    place(position, heap_[child]);
    position = child;
  }
  place(position, entry);
}

}  // namespace smd::mad
