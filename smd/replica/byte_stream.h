// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a replica needs of a network: connected ends that carry bytes in order. TLS in the daemon, memory in
// tests.

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "mad/asio.h"
#include "mad/base/id.h"
#include "smd/store/replica_state.h"

namespace smd::replica {

/// One end of a connection, on one io_context's thread. One read and one write may be under way at a time.
class ByteStream {
 public:
  ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;
  virtual ~ByteStream() = default;

  /// What has come, at least one byte; nothing where the connection has ended, or when cancelled.
  virtual asio::awaitable<std::vector<std::uint8_t>> read() = 0;
  /// Returns when there is room for more; false where the connection has ended, or when cancelled.
  virtual asio::awaitable<bool> write(std::shared_ptr<const std::vector<std::uint8_t>> bytes) = 0;
  /// Ends the connection: read() and write() return.
  virtual void close() = 0;
  /// The other end, for log lines.
  virtual std::string peer() const = 0;
};
using ByteStreamPtr = std::unique_ptr<ByteStream>;

/// A standby that copies by way of a third place, and says there what it has on its disk.
struct StandbyCopy {
  Guid port{};  ///< of its SM
  store::Position at{};
  friend bool operator==(const StandbyCopy&, const StandbyCopy&) = default;
};

/// Connections to peers, both ends of which are authenticated.
class Network {
 public:
  Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  virtual ~Network() = default;

  /// `peer` as the configuration names it. The error says why there is no connection.
  virtual asio::awaitable<std::expected<ByteStreamPtr, std::string>> connect(std::string peer) = 0;
  /// The next connection of a peer; the error says why one was refused, or why none can come. Null when
  /// cancelled.
  virtual asio::awaitable<std::expected<ByteStreamPtr, std::string>> accept() = 0;

  /// Of a network whose only peer is a place where the copy is kept: standbys that read it there.
  virtual std::vector<StandbyCopy> copies() const { return {}; }
  /// Why no connection can be made or used, where the network has logged that; empty: it has logged nothing.
  virtual std::string failure() const { return {}; }
  /// Changes of a standby's clients reach the master by it.
  virtual bool carries_calls() const { return true; }
  /// Ends what it does by itself. To be awaited before it dies.
  virtual asio::awaitable<void> stop() { co_return; }
};

}  // namespace smd::replica
