// SPDX-License-Identifier: Apache-2.0
#pragma once
// The latest events, each with its number, for any number of readers at their own speed.

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smd/events/event.h"
#include "smd/log/log.h"

namespace smd::events {

/// The oldest event goes where a new one would exceed one of them; the newest always stays.
struct Limits {
  std::size_t events = 100'000;
  std::size_t bytes = std::size_t{64} << 20;  ///< as bytes_of() counts them
};

/// Events that the ring had dropped before they were read; both ends are included.
struct Gap {
  std::uint64_t from = 0, to = 0;
  friend bool operator==(const Gap&, const Gap&) = default;
};

/// What a reader gets at a time.
struct Batch {
  std::optional<Gap> gap{};  ///< before `events`; of all events, also those that the reader does not want
  std::vector<EventPtr> events{};
  bool at_end = false;  ///< no later event is there; else read again
};

/// Which events a reader gets.
struct Wants {
  Kinds kinds{};
  std::optional<std::string> subnet{};  ///< none: of all subnets and of the process
  /// The reader gets this event.
  bool contains(const Event& event) const {
    return kinds.contains(event.payload) && (!subnet || *subnet == event.subnet);
  }
};

/// Where a reader begins.
class Start {
 public:
  /// With the oldest event that is held; what was dropped before is no gap.
  static Start at_oldest() { return Start(Where::oldest, 0); }
  /// With the next event that is published.
  static Start at_end() { return Start(Where::end, 0); }
  /// With the event that follows this number; at the end where the number was not given yet.
  static Start after(std::uint64_t sequence) { return Start(Where::after, sequence); }
  /// True for at_end() only.
  bool is_end() const { return where_ == Where::end; }

 private:
  friend class EventRing;
  enum class Where : std::uint8_t { oldest, end, after };
  Start(Where where, std::uint64_t sequence) : where_(where), sequence_(sequence) {}
  Where where_;
  std::uint64_t sequence_;
};

/// Any thread. Writers wait for nothing but the lock, which a reader holds for the time in which it looks at
/// 256 events; how far readers are makes no difference to a writer.
class EventRing {
 public:
  /// `times` may be called from any thread, with the lock held.
  explicit EventRing(log::Times times, Limits limits = {});
  EventRing(const EventRing&) = delete;
  EventRing& operator=(const EventRing&) = delete;
  /// No reader is left.
  ~EventRing();

  /// Numbers the event and wakes the readers that want it; returns its number. `subnet` is empty for what is
  /// about the process.
  std::uint64_t publish(std::string_view subnet, Payload payload);
  /// The number of the latest event; 0: none yet.
  std::uint64_t last() const;
  /// Events from now on have at least this epoch. One begins too whenever this SM becomes master.
  void begin_epoch(std::uint64_t least);
  /// What is held of the ring's events.
  struct Extent {
    EventId first;  ///< the oldest that is held, or would be if one came now
    EventId last;   ///< of the latest event, or number 0; the epoch is that of the next one
    std::vector<std::uint64_t> epochs{};  ///< all since the start, ascending
  };
  /// One consistent copy.
  Extent extent() const;
  /// Events held now.
  std::size_t size() const;

 private:
  friend class Reader;
  struct Held {
    EventPtr event;
    std::size_t bytes = 0;
  };
  /// A reader as writers see it.
  struct Listener {
    Wants wants;
    std::function<void()> wake;
    bool armed = false;                       ///< it has read all there was, and waits
    std::atomic<unsigned> calls_of_wake = 0;  ///< that have not returned
  };
  std::vector<std::shared_ptr<Listener>> add(Held held);
  std::vector<EventPtr> drop_oldest();
  void raise_epoch(std::uint64_t least);
  std::uint64_t listen(const std::shared_ptr<Listener>& listener, Start start);
  void forget(const std::shared_ptr<Listener>& listener);
  void read_some(Listener& listener, std::uint64_t& next, std::size_t max, Batch& batch);

  log::Times times_;
  Limits limits_;
  mutable std::mutex mutex_;
  std::deque<Held> held_;  ///< numbers first_ to last_
  std::uint64_t first_ = 1, last_ = 0;
  std::size_t bytes_ = 0;
  std::vector<std::uint64_t> epochs_;  ///< ascending; the last one is that of the next event
  std::vector<std::shared_ptr<Listener>> listeners_;
};

/// One position in a ring, which outlives it. Used by one thread at a time.
class Reader {
 public:
  using Wake = std::function<void()>;
  /// `wake` is called on the thread of a writer, without a lock, when an event that the reader wants follows
  /// after a read that came to the end; then not again before the next such read. It must not destroy the
  /// reader. Without `wake` the reader polls.
  Reader(EventRing& ring, Start start, Wants wants = {}, Wake wake = {});
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  /// Waits for calls of `wake` that are under way: none comes after that.
  ~Reader();

  /// The next events, `max` at most (at least 1). Does not wait.
  Batch read(std::size_t max);

 private:
  EventRing& ring_;
  std::shared_ptr<EventRing::Listener> listener_;
  std::uint64_t next_ = 1;
};

/// A handle for those that publish under one name; cheap to copy. A default one drops everything.
class Publisher {
 public:
  Publisher() = default;
  /// `ring` may be null; else it outlives the handle.
  Publisher(EventRing* ring, std::string subnet) : ring_(ring), subnet_(std::move(subnet)) {}
  /// Any thread.
  void publish(Payload payload) const {
    if (ring_ != nullptr) ring_->publish(subnet_, std::move(payload));
  }

 private:
  EventRing* ring_ = nullptr;
  std::string subnet_;
};

}  // namespace smd::events
