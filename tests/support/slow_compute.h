// SPDX-License-Identifier: Apache-2.0
#pragma once
// Work away from the SM's thread, in virtual time.

#include <cstddef>

#include "mad/clock.h"
#include "mad/suspend.h"
#include "smd/base/compute.h"

namespace smd::test {

/// Counts works, each of which lasts as long as is said when it begins; the thread goes on meanwhile.
class SlowCompute final : public sm::Compute {
 public:
  explicit SlowCompute(mad::Clock& clock, mad::Duration how_long = {}) : takes(how_long), clock_(clock) {}
  using Compute::execute;
  asio::awaitable<bool> execute(Work work) override {
    ++works;
    if (takes != mad::Duration{}) co_await clock_.sleep(takes);
    work({});
    const bool cancelled = co_await mad::was_cancelled();
    co_return !cancelled;
  }
  const routing::Parallel& parallel() const override { return serial_; }

  std::size_t works = 0;  ///< that have begun
  mad::Duration takes{};

 private:
  mad::Clock& clock_;
  routing::Serial serial_;
};

}  // namespace smd::test
