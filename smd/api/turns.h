// SPDX-License-Identifier: Apache-2.0
#pragma once
// One at a time.

#include <memory>
#include <mutex>

namespace smd::api {

/// Turns that may end on another thread than they began on. From any thread.
class Turns {
 public:
  /// Held as long as the turn lasts; null while there is another one.
  std::shared_ptr<void> take() {
    const std::scoped_lock lock(mutex_);
    if (!held_.expired()) return nullptr;
    auto turn = std::make_shared<char>();
    held_ = turn;
    return turn;
  }

 private:
  std::mutex mutex_;
  std::weak_ptr<void> held_;
};

}  // namespace smd::api
