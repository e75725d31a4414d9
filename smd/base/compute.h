// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where pure work runs: decide, verify and plan never keep the io_context busy.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "mad/asio.h"
#include "routing/parallel.h"

namespace smd::sm::inline common {

class Compute {
 public:
  Compute() = default;
  Compute(const Compute&) = delete;
  Compute& operator=(const Compute&) = delete;
  virtual ~Compute() = default;

  using Work = std::move_only_function<void(std::stop_token)>;
  /// Runs `work` to its end and returns on the caller's executor, also when cancelled meanwhile: `work` may
  /// refer to the caller's frame. False when cancelled; the token has asked `work` to stop then, and what it
  /// has left is of no use.
  virtual asio::awaitable<bool> execute(Work work) = 0;
  /// For short work, which goes on to its end whatever happens.
  asio::awaitable<bool> execute(std::move_only_function<void()> work) {
    return execute(Work([task = std::move(work)](const std::stop_token&) mutable { task(); }));
  }
  /// For work within execute(); lives as long as this.
  virtual const routing::Parallel& parallel() const = 0;
};

/// In place: for tests in virtual time and for programs that do nothing else meanwhile.
class InlineCompute final : public Compute {
 public:
  using Compute::execute;
  asio::awaitable<bool> execute(Work work) override;
  const routing::Parallel& parallel() const override { return serial_; }

 private:
  routing::Serial serial_;
};

/// A pool of `threads` (0: one for each processor). `lower`: at lower priority than the threads that answer
/// the fabric; such a one is there for all managers of a daemon.
class PoolCompute final : public Compute {
 public:
  enum class Priority : std::uint8_t { lower, same };
  /// Starts the threads.
  explicit PoolCompute(unsigned threads, Priority priority = Priority::lower);
  ~PoolCompute() override;
  using Compute::execute;
  asio::awaitable<bool> execute(Work work) override;
  const routing::Parallel& parallel() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace smd::sm::inline common
