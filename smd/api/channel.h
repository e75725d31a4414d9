// SPDX-License-Identifier: Apache-2.0
#pragma once
// The bytes of one client, whatever they come over, and where clients come from.

#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <memory>
#include <utility>

#include "mad/asio.h"
#include "smd/api/peer.h"

namespace smd::api {

/// Errors as values.
inline constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

/// On one thread; one read and one write at a time. Lives until what it began has ended.
class Channel {
 public:
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  virtual ~Channel() = default;

  /// What has to happen before the first byte. False: it is of no use.
  virtual asio::awaitable<bool> open() = 0;
  /// As much as there is, at least a byte, and how many bytes these are. An error where the client has closed
  /// its end, and after close().
  virtual asio::awaitable<std::pair<error_code, std::size_t>> read(asio::mutable_buffer into) = 0;
  /// Writes all of it. After an error some of the bytes may have been sent.
  virtual asio::awaitable<error_code> write(asio::const_buffer bytes) = 0;
  /// After the last byte, so that the client sees that it has all.
  virtual asio::awaitable<void> finish() = 0;
  /// Ends what is under way, with an error.
  virtual void close() = 0;
  /// The client at the other end; valid as long as the channel.
  virtual const Peer& peer() const = 0;
};

class Listener {
 public:
  Listener() = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  virtual ~Listener() = default;

  /// The next client; null: there will be no more.
  virtual asio::awaitable<std::unique_ptr<Channel>> next() = 0;
  /// No more clients.
  virtual void close() = 0;
};

}  // namespace smd::api
