// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where pure work runs is the caller's choice: it gives a Parallel, the work gives indexes.

#include <algorithm>
#include <cstddef>
#include <functional>

namespace smd::routing {

/// Runs fn(0) to fn(n - 1), each once, in any order and on any threads, and returns when all have ended.
/// What is computed never depends on the order. fn must not throw.
class Parallel {
 public:
  Parallel() = default;
  Parallel(const Parallel&) = delete;
  Parallel& operator=(const Parallel&) = delete;
  virtual ~Parallel() = default;

  virtual void for_each(std::size_t n, const std::function<void(std::size_t)>& fn) const = 0;
  /// How many calls may run at one time; for the size of pieces only.
  virtual unsigned threads() const = 0;
};

/// All on the caller's thread, in order.
class Serial final : public Parallel {
 public:
  void for_each(std::size_t n, const std::function<void(std::size_t)>& fn) const override;
  unsigned threads() const override { return 1; }
};

/// `count` threads (the caller's is one of them), started for each call and ended with it. For programs
/// without a pool of their own: `smd route`, tests, benchmarks.
class Threads final : public Parallel {
 public:
  explicit Threads(unsigned count) : count_(std::max(1U, count)) {}
  void for_each(std::size_t n, const std::function<void(std::size_t)>& fn) const override;
  unsigned threads() const override { return count_; }

 private:
  unsigned count_;
};

/// Cuts [0, n) into pieces of `grain` and calls fn(begin, end) for each: for work that wants scratch memory.
void for_ranges(const Parallel& parallel, std::size_t n, std::size_t grain,
                const std::function<void(std::size_t begin, std::size_t end)>& fn);

}  // namespace smd::routing
