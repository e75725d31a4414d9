// SPDX-License-Identifier: Apache-2.0
#pragma once
// Requests with large bodies take turns, so that many of them at once do not fill the memory.

#include <cstddef>
#include <memory>
#include <utility>

#include "mad/asio.h"
#include "mad/clock.h"
#include "mad/suspend.h"
#include "mad/task_group.h"
#include "mad/turn.h"
#include "smd/base/compute.h"
#include "smd/base/spare_memory.h"

namespace smd::api {

/// On one io_context's thread, as its Server, which it outlives.
class LargeBodies {
 public:
  /// Bytes from which on a body is large: those of nearly all requests are not.
  static constexpr std::size_t kLarge = std::size_t{256} * 1024;
  /// So many are read at a time. One client that is slow does not keep all others waiting.
  static constexpr unsigned kRead = 4;

  /// References outlive it; stop() must have ended before it dies.
  LargeBodies(asio::any_io_executor executor, mad::Clock& clock, sm::Compute& compute)
      : compute_(compute), tasks_(std::move(executor)), spare_(clock, compute, tasks_) {}
  LargeBodies(const LargeBodies&) = delete;
  LargeBodies& operator=(const LargeBodies&) = delete;

  /// A place among those that are read and answered, until it dies.
  class Place {
   public:
    explicit Place(LargeBodies& of) : of_(of) { ++of_.reading_; }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() {
      --of_.reading_;
      of_.readers_.wake_one();
    }

   private:
    LargeBodies& of_;
  };
  using PlacePtr = std::unique_ptr<Place>;

  /// Waits for a place; null when cancelled.
  asio::awaitable<PlacePtr> place();
  /// Runs `work` by `compute` when no other one runs, and gives memory back afterwards. False when cancelled.
  asio::awaitable<bool> execute(std::move_only_function<void()> work);
  /// Something has changed: what it has replaced is given back in a while.
  void give_back_soon() { spare_.give_back_soon(); }
  asio::awaitable<void> stop() { return tasks_.stop(); }

 private:
  sm::Compute& compute_;
  unsigned reading_ = 0;
  mad::WaitList readers_;
  mad::Turn turn_;  ///< who is answered
  mad::TaskGroup tasks_;
  sm::SpareMemory spare_;
};

}  // namespace smd::api
