// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every long task lives in a group, and nothing is detached: the owner of the group stops it before its own
// end.

#include <list>

#include "mad/asio.h"
#include "mad/suspend.h"

namespace smd::mad {

/// Tasks of one owner on one io_context. In them cancellation does not throw: what they wait for returns
/// its 'cancelled' value, at once from then on, and the task is expected to return.
class TaskGroup {
 public:
  /// Tasks run on `executor`; calls of the group come from its thread.
  explicit TaskGroup(asio::any_io_executor executor) : executor_(std::move(executor)) {}
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;
  /// No task may be left.
  ~TaskGroup();

  /// Starts `task` (not within this call). After stop() nothing starts any more. A task that throws is a
  /// programming error and ends the process.
  void spawn(asio::awaitable<void> task);

  /// Tasks that have not ended.
  std::size_t count() const { return tasks_.size(); }
  bool stopping() const { return stopping_; }

  /// Cancels all tasks and waits until they have ended. May be called several times.
  asio::awaitable<void> stop();
  /// Waits until no task is left; returns early when the waiter itself is cancelled.
  asio::awaitable<void> join();

 private:
  struct Task {
    asio::cancellation_signal signal;
  };
  void ended(std::list<Task>::iterator task);

  asio::any_io_executor executor_;
  std::list<Task> tasks_;
  WaitList joiners_;
  bool stopping_ = false;
};

}  // namespace smd::mad
