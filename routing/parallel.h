// SPDX-License-Identifier: Apache-2.0
#pragma once
// The caller chooses the threads for pure computations: it passes a Parallel.

#include <algorithm>
#include <cstddef>
#include <functional>

namespace smd::routing {

/// Runs fn(0) to fn(n - 1), each once, in any order and on any threads, and returns after the last. Results
/// never depend on the order. fn must not throw.
class Parallel {
 public:
  Parallel() = default;
  Parallel(const Parallel&) = delete;
  Parallel& operator=(const Parallel&) = delete;
  virtual ~Parallel() = default;

  /// See the class; n = 0: no call. May be called from within fn.
  virtual void for_each(std::size_t n, const std::function<void(std::size_t)>& fn) const = 0;
  /// The number of calls that may run at the same time; only for choosing the size of pieces.
  virtual unsigned threads() const = 0;
};

/// Runs all calls on the caller's thread, in order.
class Serial final : public Parallel {
 public:
  void for_each(std::size_t n, const std::function<void(std::size_t)>& fn) const override;
  unsigned threads() const override { return 1; }
};

/// Runs on `count` threads, the caller's included; threads live for one call. For programs without a pool:
/// `smd route`, tests, benchmarks.
class Threads final : public Parallel {
 public:
  /// 0 counts as 1.
  explicit Threads(unsigned count) : count_(std::max(1U, count)) {}
  void for_each(std::size_t n, const std::function<void(std::size_t)>& fn) const override;
  unsigned threads() const override { return count_; }

 private:
  unsigned count_;
};

/// Splits [0, n) into pieces of `grain` and calls fn(begin, end) for each: for work with scratch memory.
void for_ranges(const Parallel& parallel, std::size_t n, std::size_t grain,
                const std::function<void(std::size_t begin, std::size_t end)>& fn);

}  // namespace smd::routing
