// SPDX-License-Identifier: Apache-2.0
#pragma once
// Memory that changes have left free goes back to the system.

#include "mad/clock.h"
#include "mad/task_group.h"
#include "smd/base/compute.h"

namespace smd::sm::inline common {

/// On one thread. References outlive it, and `tasks` is stopped before it dies.
class SpareMemory {
 public:
  SpareMemory(mad::Clock& clock, Compute& compute, mad::TaskGroup& tasks)
      : clock_(clock), compute_(compute), tasks_(tasks) {}
  SpareMemory(const SpareMemory&) = delete;
  SpareMemory& operator=(const SpareMemory&) = delete;

  /// What malloc keeps of free pages that lie between others. Takes long; from any thread.
  static void give_back();
  /// Something large has changed: what it has replaced is given back in a while, by `compute`.
  void give_back_soon();

 private:
  asio::awaitable<void> give_back_later();

  mad::Clock& clock_;
  Compute& compute_;
  mad::TaskGroup& tasks_;
  bool waits_ = false;
};

}  // namespace smd::sm::inline common
