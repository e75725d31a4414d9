// SPDX-License-Identifier: Apache-2.0
#pragma once
// A look at the local port that must not stop what looks: firmware that hangs keeps a read of sysfs for a
// minute (mlx5: MLX5_CMD_TIMEOUT_MSEC), and a read in the kernel cannot be interrupted.

#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "mad/transport.h"

namespace smd::umad {

/// Reads on a thread of its own, again and again. The calls are from one thread and never wait for a read.
class PortWatch {
 public:
  using Result = std::expected<mad::LocalPort, mad::TransportError>;
  using Read = std::function<Result()>;
  static constexpr std::chrono::milliseconds kPeriod{1000};
  /// A read that takes longer is a fault of the device. Healthy firmware answers in milliseconds.
  static constexpr std::chrono::milliseconds kStalled{5000};

  /// `first`: what is known before the first read has ended. `read` refers to nothing that may end before it.
  PortWatch(mad::LocalPort first, Read read, std::chrono::milliseconds period = kPeriod);
  PortWatch(const PortWatch&) = delete;
  PortWatch& operator=(const PortWatch&) = delete;
  /// A read that the kernel does not give back is left to end by itself: its thread has what it needs.
  ~PortWatch();

  /// The result of the last read that has ended. Never waits for one that goes on.
  Result latest() const;
  /// For how long the read that is under way has not ended.
  std::chrono::milliseconds reading_for() const;

 private:
  struct Shared;
  static void run(const std::shared_ptr<Shared>& shared, const Read& read, std::chrono::milliseconds period);
  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace smd::umad
