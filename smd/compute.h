// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where pure work runs: decide, verify and plan never keep the io_context busy.

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>

#include "mad/asio.h"
#include "routing/parallel.h"

namespace smd::sm {

class Compute {
 public:
  Compute() = default;
  Compute(const Compute&) = delete;
  Compute& operator=(const Compute&) = delete;
  virtual ~Compute() = default;

  /// Runs `work` to its end and returns on the caller's executor, also when cancelled meanwhile: `work` may
  /// refer to the caller's frame.
  virtual asio::awaitable<void> execute(std::move_only_function<void()> work) = 0;
  virtual const routing::Parallel& parallel() const = 0;
};

/// In place: for tests in virtual time and for programs that do nothing else meanwhile.
class InlineCompute final : public Compute {
 public:
  asio::awaitable<void> execute(std::move_only_function<void()> work) override;
  const routing::Parallel& parallel() const override { return serial_; }

 private:
  routing::Serial serial_;
};

/// A pool of `threads` (0: one for each processor) at lower priority; one for all managers of a daemon.
class PoolCompute final : public Compute {
 public:
  explicit PoolCompute(unsigned threads);
  ~PoolCompute() override;
  asio::awaitable<void> execute(std::move_only_function<void()> work) override;
  const routing::Parallel& parallel() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace smd::sm
