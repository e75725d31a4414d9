// SPDX-License-Identifier: Apache-2.0
#pragma once
// At most so many at a time: a counting semaphore for coroutines of one io_context.

#include <cstddef>
#include <optional>
#include <utility>

#include "mad/suspend.h"

namespace smd::mad {

/// First come, first served. Outlives its permits.
class Gate {
 public:
  /// `places`: permits that may be held at the same time.
  explicit Gate(std::size_t places) : free_(places) {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// A place inside, given back when it dies.
  class Permit {
   public:
    /// Takes over a place that was already counted as taken; made by the gate only.
    explicit Permit(Gate& gate) : gate_(&gate) {}
    /// Leaves `other` without a place.
    Permit(Permit&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Permit& operator=(Permit&& other) noexcept {
      std::swap(gate_, other.gate_);
      return *this;
    }
    ~Permit() {
      if (gate_ != nullptr) gate_->leave();
    }

   private:
    Gate* gate_;
  };

  /// Waits for a place, first come, first served; nothing when cancelled.
  asio::awaitable<std::optional<Permit>> enter();
  std::size_t free() const { return free_; }

 private:
  void leave();

  std::size_t free_;
  WaitList waiting_;
};

}  // namespace smd::mad
