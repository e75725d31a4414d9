// SPDX-License-Identifier: Apache-2.0
#pragma once
// Questions that are waited for together, but not those that nodes leave without an answer while a sweep is
// due.

#include <cstddef>

#include "mad/asio.h"
#include "mad/task_group.h"
#include "smd/schedule/scheduler.h"

namespace smd::sm::inline scheduling {

/// finish() is called before it dies.
class PatientGroup {
 public:
  /// `scheduler` outlives the group.
  PatientGroup(asio::any_io_executor executor, Scheduler& scheduler)
      : scheduler_(scheduler), tasks_(std::move(executor)) {}
  PatientGroup(const PatientGroup&) = delete;
  PatientGroup& operator=(const PatientGroup&) = delete;

  /// Begins `task` (not within this call).
  void spawn(asio::awaitable<void> task);
  /// Waits until all tasks have ended; those that have not after 50 ms are cancelled when a sweep is due.
  /// Does not return before all have ended.
  asio::awaitable<void> finish();

 private:
  asio::awaitable<void> counted(asio::awaitable<void> task);

  Scheduler& scheduler_;
  mad::TaskGroup tasks_;
  std::size_t open_ = 0;  ///< tasks that have not ended
};

}  // namespace smd::sm::inline scheduling
