// SPDX-License-Identifier: Apache-2.0
#include "smd/store/ongoing_failure.h"

#include <utility>

namespace smd::store {

void OngoingFailure::begin(const std::string& reason) {
  {
    const std::scoped_lock guard(mutex_);
    if (failure_) {
      failure_->reason = reason;
      return;
    }
    failure_ = Failure{.reason = reason, .since = std::chrono::system_clock::now()};
  }
  log_.error("store.failed")
      .kv("directory", directory_.string())
      .kv("reason", reason)
      .kv("action", "going on from memory, which a restart loses; tried again")
      .subject("failed");
}

void OngoingFailure::end() {
  {
    const std::scoped_lock guard(mutex_);
    if (!std::exchange(failure_, std::nullopt)) return;
  }
  log_.info("store.works_again").kv("directory", directory_.string()).subject("works");
}

std::optional<Failure> OngoingFailure::now() const {
  const std::scoped_lock guard(mutex_);
  return failure_;
}

}  // namespace smd::store
