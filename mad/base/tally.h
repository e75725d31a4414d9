// SPDX-License-Identifier: Apache-2.0
#pragma once
// A number that one thread changes and any thread reads: as cheap as a plain one.

#include <atomic>
#include <cstdint>

namespace smd::base {

class Tally {
 public:
  Tally() = default;
  Tally(const Tally&) = delete;
  Tally& operator=(const Tally&) = delete;

  /// From the thread that owns it, like set().
  void add(std::uint64_t more = 1) { set(get() + more); }
  void set(std::uint64_t value) { value_.store(value, std::memory_order_relaxed); }
  /// From any thread.
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

}  // namespace smd::base
