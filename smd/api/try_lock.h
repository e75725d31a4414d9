// SPDX-License-Identifier: Apache-2.0
#pragma once
// A lock that is tried, never waited for.

#include <memory>
#include <mutex>

namespace smd::api {

/// A lock that may be given back on another thread than took it. From any thread.
class TryLock {
 public:
  /// Held as long as the pointer lives; null while another one does.
  std::shared_ptr<void> try_lock() {
    const std::scoped_lock lock(mutex_);
    if (!held_.expired()) return nullptr;
    auto held = std::make_shared<char>();
    held_ = held;
    return held;
  }

 private:
  std::mutex mutex_;
  std::weak_ptr<void> held_;
};

}  // namespace smd::api
