// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one thread makes and others read.

#include <cstdint>
#include <memory>
#include <mutex>

namespace smd::base {

/// The latest value, from any thread. With the ring of events the only lock between the threads of subnets
/// (libstdc++ 12's atomic<shared_ptr> is not clean under TSan).
template <class T>
class Published {
 public:
  /// The latest value; null before the first set(). Any thread.
  std::shared_ptr<const T> get() const {
    const std::scoped_lock lock(mutex_);
    return value_;
  }
  /// How often the value was replaced. Any thread.
  std::uint64_t changes() const {
    const std::scoped_lock lock(mutex_);
    return changes_;
  }
  /// Replaces the value; readers keep the old one as long as they hold it. Any thread.
  void set(std::shared_ptr<const T> value) {
    const std::scoped_lock lock(mutex_);
    ++changes_;
    value_.swap(value);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_;
  std::uint64_t changes_ = 0;
};

}  // namespace smd::base
