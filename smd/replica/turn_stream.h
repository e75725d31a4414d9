// SPDX-License-Identifier: Apache-2.0
#pragma once
// A connection to which several tasks write.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mad/clock.h"
#include "mad/turn.h"
#include "smd/replica/byte_stream.h"

namespace smd::replica {

/// Writes one after the other, each in `limit`; the rest as the connection that it is made of. After the
/// first write that fails all others fail at once: Asio's socket tries no send after a failed one but waits
/// for an event, and of a connection that the peer has reset none comes any more. What has come until then
/// can still be read; `limit` after the start of that write the connection is closed.
class TurnStream final : public ByteStream {
 public:
  TurnStream(ByteStreamPtr stream, mad::Clock& clock, mad::Duration limit)
      : stream_(std::move(stream)), clock_(clock), limit_(limit) {}

  asio::awaitable<std::vector<std::uint8_t>> read() override { return stream_->read(); }
  asio::awaitable<bool> write(std::shared_ptr<const std::vector<std::uint8_t>> bytes) override {
    const bool ours = co_await turn_.take();
    if (!ours) co_return false;
    bool sent = false;
    if (!failed_) sent = co_await write_in_time(std::move(bytes));
    turn_.give();
    co_return sent;
  }
  void close() override {
    clock_.cancel(late_);
    stream_->close();
  }
  std::string peer() const override { return stream_->peer(); }

 private:
  asio::awaitable<bool> write_in_time(std::shared_ptr<const std::vector<std::uint8_t>> bytes) {
    late_ = clock_.call_at(clock_.now() + limit_, [stream = std::weak_ptr(stream_)] {
      if (const auto open = stream.lock()) open->close();
    });
    const bool sent = co_await stream_->write(std::move(bytes));
    if (sent) clock_.cancel(late_);
    failed_ = !sent;
    co_return sent;
  }

  std::shared_ptr<ByteStream> stream_;
  mad::Clock& clock_;
  mad::Duration limit_;
  mad::Turn turn_;
  mad::Clock::TimerId late_ = 0;  ///< closes the connection
  bool failed_ = false;           ///< a write
};

}  // namespace smd::replica
