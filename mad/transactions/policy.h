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
  /// Between two tries to a node whose answer time is not known. Every request ends timeout * (retries + 1)
  /// after its first try, however its tries are spread within that time.
  Duration timeout = std::chrono::milliseconds(200);
  /// Resends after the first try; kMaxTries - 1 at most.
  std::uint32_t retries = 3;
  /// A node that has answered later than half of that time is slow: its requests end so long after their
  /// first try, if that is longer.
  Duration slow_timeout = std::chrono::seconds(2);
  /// Shortest time to the second try, where the node is known to answer faster.
  Duration min_timeout = std::chrono::milliseconds(50);
  /// Where much is lost on the way (a quarter of the tries of requests that are answered in the end) more
  /// tries are made, as soon as the node's answer time has passed, but not sooner than this.
  Duration lossy_timeout = std::chrono::milliseconds(10);
  /// Unsolicited MADs that are handed on: so many a second, and so many at once. The rest is counted.
  std::uint32_t unsolicited_rate = 10'000, unsolicited_burst = 2'000;
};

/// Requests that are started and not ended, of one Transactions: as many transaction slots as there are.
inline constexpr std::uint32_t kMaxOpen = 4096, kMostOpen = 65'536;
/// Three quarters of the 512 receive buffers that the kernel gives a management queue pair (its ib_mad
/// module's recv_queue_size).
inline constexpr std::uint32_t kMaxOutstanding = 384;
inline constexpr std::uint32_t kMaxTries = 32;

}  // namespace smd::mad
