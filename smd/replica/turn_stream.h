// SPDX-License-Identifier: Apache-2.0
#pragma once
// A connection to which several tasks write.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mad/turn.h"
#include "smd/replica/byte_stream.h"

namespace smd::replica {

/// Writes one after the other; the rest as the connection that it is made of.
class TurnStream final : public ByteStream {
 public:
  explicit TurnStream(ByteStreamPtr stream) : stream_(std::move(stream)) {}

  asio::awaitable<std::vector<std::uint8_t>> read() override { return stream_->read(); }
  asio::awaitable<bool> write(std::shared_ptr<const std::vector<std::uint8_t>> bytes) override {
    const bool ours = co_await turn_.take();
    if (!ours) co_return false;
    const bool sent = co_await stream_->write(std::move(bytes));
    turn_.give();
    co_return sent;
  }
  void close() override { stream_->close(); }
  std::string peer() const override { return stream_->peer(); }

 private:
  ByteStreamPtr stream_;
  mad::Turn turn_;
};

}  // namespace smd::replica
