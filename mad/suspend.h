// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one place where a coroutine is put to sleep and woken by hand; clocks, gates and groups are made of it.

#include <functional>
#include <list>
#include <memory>

#include "mad/asio.h"

namespace smd::mad {

/// A coroutine that sleeps. Woken once, from the io_context and never from within the call that wakes it.
class Suspension {
 public:
  /// `done` resumes the coroutine with the value of resume(); it is posted to `executor`.
  explicit Suspension(asio::any_io_executor executor, std::move_only_function<void(bool)> done)
      : executor_(std::move(executor)), done_(std::move(done)) {}
  /// What the sleeper sees; only the first call counts.
  void resume(bool value);
  bool pending() const { return done_ != nullptr; }  ///< resume() was not called yet

 private:
  asio::any_io_executor executor_;
  std::move_only_function<void(bool)> done_;
};
using SuspensionPtr = std::shared_ptr<Suspension>;

/// Sleeps until resume(value) is called on what `begin` was given, and returns that value; false when
/// cancelled, also when that was before the call. Throws nothing.
asio::awaitable<bool> suspend(std::move_only_function<void(SuspensionPtr)> begin);

/// Whether the coroutine that asks was cancelled: one of a TaskGroup learns it by no exception.
asio::awaitable<bool> was_cancelled();

/// Coroutines that wait for the same thing, in order of arrival.
class WaitList {
 public:
  /// True when woken, false when cancelled.
  asio::awaitable<bool> wait();
  /// Wakes the first; false where none waits.
  bool wake_one();
  /// Wakes all that wait now, in order of arrival.
  void wake_all();
  /// True where none waits; those that were cancelled do not count.
  bool empty() const;

 private:
  std::list<SuspensionPtr> sleepers_;
};

}  // namespace smd::mad
