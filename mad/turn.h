// SPDX-License-Identifier: Apache-2.0
#pragma once
// What tasks of one thread do one after the other.

#include "mad/suspend.h"

namespace smd::mad {

/// One task at a time has it, in the order in which they asked.
class Turn {
 public:
  /// False when cancelled: the task does not have it.
  asio::awaitable<bool> take() {
    while (taken_) {
      const bool woken = co_await waiting_.wait();
      if (!woken) co_return false;
    }
    taken_ = true;
    co_return true;
  }
  /// By the task that has it.
  void give() {
    taken_ = false;
    waiting_.wake_one();
  }

 private:
  bool taken_ = false;
  mad::WaitList waiting_;
};

}  // namespace smd::mad
