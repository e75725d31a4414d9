// SPDX-License-Identifier: Apache-2.0
#pragma once
// How patiently and how many at a time we ask.

#include <chrono>
#include <cstdint>

namespace smd::mad {

struct Policy {
  using Duration = std::chrono::nanoseconds;

  /// Requests on the wire at once, all nodes together; kMaxOutstanding at most.
  std::uint32_t max_outstanding = 256;
  /// Of them to one node.
  std::uint32_t per_node = 16;
  /// First resend time, before a node's own answer time is known.
  Duration timeout = std::chrono::milliseconds(200);
  /// Bounds of the resend time once it is known, and of what its doubling leads to.
  Duration min_timeout = std::chrono::milliseconds(50), max_timeout = std::chrono::seconds(1);
  /// Resends after the first try; kMaxTries - 1 at most. The last try waits so long that no request ends
  /// sooner than one to an unknown node would (with these defaults 2.4 s).
  std::uint32_t retries = 3;
  /// Where much is lost on the way (a quarter of the tries of requests that are answered in the end), a
  /// request is tried again and again for so long, not before its answer time has passed, nor sooner than
  /// this.
  Duration lossy_patience = std::chrono::seconds(12), lossy_timeout = std::chrono::milliseconds(10);
  /// MADs nobody asked for that are handed on: so many a second, and so many at once. The rest is counted.
  std::uint32_t unsolicited_rate = 10'000, unsolicited_burst = 2'000;
};

/// Three quarters of the 512 receive buffers that the kernel gives a management queue pair (its ib_mad
/// module's recv_queue_size).
inline constexpr std::uint32_t kMaxOutstanding = 384;
inline constexpr std::uint32_t kMaxTries = 32;

}  // namespace smd::mad
