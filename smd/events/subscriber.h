// SPDX-License-Identifier: Apache-2.0
#pragma once
// Events as calls on an executor's thread: what the daemon's modules that run on an io_context use.

#include <functional>
#include <memory>

#include "mad/asio.h"
#include "smd/events/ring.h"

namespace smd::events {

/// Calls `event` for each event in the order of their numbers, and `gap` where some were dropped, on the
/// thread of the executor. An event that is published on that thread is handed over before publish() returns,
/// unless a call of the subscriber is under way: then after that. Made and destroyed on that thread or while
/// it does not run, and not from within its calls. The ring outlives it, the executor's context until it is
/// destroyed.
class Subscriber {
 public:
  struct Calls {
    std::function<void(const Event& event)> event;
    std::function<void(Gap gap)> gap = {};  ///< may be empty
  };
  /// Events from `start` on that `wants` contains; those that are there already are handed over by a post.
  Subscriber(asio::any_io_executor executor, EventRing& ring, Wants wants, Calls calls,
             Start start = Start::at_end());
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;
  ~Subscriber();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace smd::events
