// SPDX-License-Identifier: Apache-2.0
#include "smd/events/ring.h"

#include <algorithm>
#include <utility>

#include "mad/base/bug.h"

namespace smd::events {
namespace {

std::uint64_t seconds_of(std::chrono::system_clock::time_point at) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(at.time_since_epoch()).count();
  return seconds > 0 ? static_cast<std::uint64_t>(seconds) : 0;
}

bool begins_mastership(const Payload& payload) {
  const auto* change = std::get_if<SmStateChanged>(&payload);
  return change != nullptr && change->to == wire::SmState::master;
}

}  // namespace

EventRing::EventRing(log::Times times, Limits limits) : times_(std::move(times)), limits_(limits) {
  SMD_ASSERT(limits_.events != 0);
  epochs_.push_back(seconds_of(times_.wall()));
}

EventRing::~EventRing() { SMD_ASSERT(listeners_.empty()); }

std::uint64_t EventRing::publish(std::string_view subnet, Payload payload) {
  auto event = std::make_shared<Event>();
  event->subnet = subnet;
  event->payload = std::move(payload);
  const auto bytes = bytes_of(*event);
  std::vector<EventPtr> dropped;  // freed without the lock
  std::vector<std::shared_ptr<Listener>> woken;
  std::uint64_t sequence = 0;
  {
    const std::scoped_lock lock(mutex_);
    sequence = ++last_;
    event->sequence = sequence;
    event->wall = times_.wall();
    // A client of the master before us goes on with our events.
    if (begins_mastership(event->payload)) raise_epoch(std::max(epochs_.back() + 1, seconds_of(event->wall)));
    event->epoch = epochs_.back();
    event->monotonic = times_.steady();
    woken = add({std::move(event), bytes});
    dropped = drop_oldest();
  }
  for (const auto& listener : woken) {
    listener->wake();
    --listener->calls_of_wake;
    listener->calls_of_wake.notify_all();
  }
  return sequence;
}

/// Returns the readers that are to be woken. With the lock.
std::vector<std::shared_ptr<EventRing::Listener>> EventRing::add(Held held) {
  std::vector<std::shared_ptr<Listener>> woken;
  for (const auto& listener : listeners_) {
    if (!listener->armed || !listener->wants.contains(*held.event)) continue;
    listener->armed = false;
    ++listener->calls_of_wake;
    woken.push_back(listener);
  }
  bytes_ += held.bytes;
  held_.push_back(std::move(held));
  return woken;
}

/// Down to the limits. With the lock.
std::vector<EventPtr> EventRing::drop_oldest() {
  std::vector<EventPtr> dropped;
  while (held_.size() > limits_.events || (bytes_ > limits_.bytes && held_.size() > 1)) {
    bytes_ -= held_.front().bytes;
    dropped.push_back(std::move(held_.front().event));
    held_.pop_front();
    ++first_;
  }
  return dropped;
}

/// With the lock.
void EventRing::raise_epoch(std::uint64_t least) {
  if (least > epochs_.back()) epochs_.push_back(least);
}

void EventRing::begin_epoch(std::uint64_t least) {
  const std::scoped_lock lock(mutex_);
  raise_epoch(least);
}

EventRing::Extent EventRing::extent() const {
  const std::scoped_lock lock(mutex_);
  const EventId next{.epoch = epochs_.back(), .number = last_ + 1};
  return {.first = held_.empty() ? next : held_.front().event->id(),
          .last = {.epoch = epochs_.back(), .number = last_},
          .epochs = epochs_};
}

std::uint64_t EventRing::last() const {
  const std::scoped_lock lock(mutex_);
  return last_;
}

std::size_t EventRing::size() const {
  const std::scoped_lock lock(mutex_);
  return held_.size();
}

/// Looks at some events from `next` on: a reader that wants few of many holds no writer up.
void EventRing::read_some(Listener& listener, std::uint64_t& next, std::size_t max, Batch& batch) {
  constexpr std::uint64_t kAtOnce = 256;
  const std::scoped_lock lock(mutex_);
  if (next < first_) {
    if (!batch.events.empty()) return;  // the gap comes before events: with the next read
    if (!batch.gap) batch.gap = Gap{.from = next};
    batch.gap->to = first_ - 1;
    next = first_;
  }
  for (const auto stop = std::min(last_ + 1, next + kAtOnce); next < stop && batch.events.size() < max;) {
    const auto& event = held_[next++ - first_].event;
    if (listener.wants.contains(*event)) batch.events.push_back(event);
  }
  batch.at_end = next > last_;
  if (batch.at_end) listener.armed = static_cast<bool>(listener.wake);
}

/// Returns the number of the event that is read first.
std::uint64_t EventRing::listen(const std::shared_ptr<Listener>& listener, Start start) {
  const std::scoped_lock lock(mutex_);
  auto next = last_ + 1;
  if (start.where_ == Start::Where::oldest) next = first_;
  if (start.where_ == Start::Where::after) next = std::min(start.sequence_, last_) + 1;
  listener->armed = listener->wake && next > last_;
  listeners_.push_back(listener);
  return next;
}

void EventRing::forget(const std::shared_ptr<Listener>& listener) {
  const std::scoped_lock lock(mutex_);
  std::erase(listeners_, listener);
}

Reader::Reader(EventRing& ring, Start start, Wants wants, Wake wake)
    : ring_(ring), listener_(std::make_shared<EventRing::Listener>()) {
  listener_->wants = std::move(wants);
  listener_->wake = std::move(wake);
  next_ = ring_.listen(listener_, start);
}

Reader::~Reader() {
  ring_.forget(listener_);
  auto& calls = listener_->calls_of_wake;
  for (auto n = calls.load(); n != 0; n = calls.load()) calls.wait(n);
}

Batch Reader::read(std::size_t max) {
  SMD_ASSERT(max != 0);
  Batch batch;
  do {
    const auto before = next_;
    ring_.read_some(*listener_, next_, max, batch);
    if (next_ == before) break;
  } while (!batch.at_end && batch.events.size() < max);
  return batch;
}

}  // namespace smd::events
