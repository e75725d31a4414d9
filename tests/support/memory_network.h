// SPDX-License-Identifier: Apache-2.0
#pragma once
// A network in memory and virtual time, with faults, for replicas in a World.

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mad/clock.h"
#include "mad/suspend.h"
#include "smd/replica/byte_stream.h"

namespace smd::test {

/// All of it on one io_context.
class MemoryNetwork {
 public:
  using Bytes = std::vector<std::uint8_t>;
  explicit MemoryNetwork(mad::Clock& clock) : clock_(clock) {}

  mad::Duration delay{};                       ///< of each piece of bytes
  bool cut = false;                            ///< no new connections
  std::string refused{};                       ///< why no end is let in; empty: each is
  std::size_t most_at_once = ~std::size_t{0};  ///< bytes that one read gives
  std::uint64_t sent = 0;                      ///< bytes
  std::string takes_nothing{};                 ///< writes to this host wait until the writer closes its end
  /// May change what is sent.
  std::function<void(Bytes&)> spoil;

  /// The network as `name` sees it.
  std::unique_ptr<replica::Network> at(const std::string& name) {
    return std::make_unique<Host>(*this, name);
  }
  /// Ends all connections.
  void break_all() {
    for (const auto& pipe : std::exchange(pipes_, {})) {
      if (const auto open = pipe.lock()) open->end();
    }
  }

 private:
  /// One direction of a connection.
  struct Pipe {
    std::deque<std::pair<mad::TimePoint, Bytes>> bytes;
    bool ended = false;
    mad::WaitList wake;
    void end() {
      ended = true;
      wake.wake_all();
    }
  };
  using PipePtr = std::shared_ptr<Pipe>;

  class End final : public replica::ByteStream {
   public:
    End(MemoryNetwork& network, PipePtr in, PipePtr out, std::string peer)
        : network_(network), in_(std::move(in)), out_(std::move(out)), peer_(std::move(peer)) {}
    ~End() override { End::close(); }
    asio::awaitable<Bytes> read() override {
      const auto in = in_;
      auto& clock = network_.clock_;
      for (;;) {
        if (in->ended) co_return Bytes{};
        const bool ready = !in->bytes.empty() && in->bytes.front().first <= clock.now();
        if (ready) break;
        mad::Clock::TimerId timer = 0;
        if (!in->bytes.empty()) timer = clock.call_at(in->bytes.front().first, [in] { in->wake.wake_all(); });
        const bool woken = co_await in->wake.wait();
        if (timer != 0) clock.cancel(timer);
        if (!woken) co_return Bytes{};
      }
      auto& front = in->bytes.front().second;
      if (front.size() <= network_.most_at_once) {
        auto bytes = std::move(front);
        in->bytes.pop_front();
        co_return bytes;
      }
      const auto part = front.begin() + static_cast<std::ptrdiff_t>(network_.most_at_once);
      Bytes bytes(front.begin(), part);
      front.erase(front.begin(), part);
      co_return bytes;
    }
    asio::awaitable<bool> write(std::shared_ptr<const Bytes> bytes) override {
      const auto here = here_;
      while (!here->ended && network_.takes_nothing == peer_) {
        const bool woken = co_await here->wake.wait();
        if (!woken) co_return false;
      }
      if (out_->ended) co_return false;
      auto copy = *bytes;
      if (network_.spoil) network_.spoil(copy);
      network_.sent += copy.size();
      out_->bytes.emplace_back(network_.clock_.now() + network_.delay, std::move(copy));
      out_->wake.wake_all();
      co_return true;
    }
    void close() override {
      here_->end();
      in_->end();
      out_->end();
    }
    std::string peer() const override { return peer_; }

   private:
    MemoryNetwork& network_;
    PipePtr in_, out_;
    PipePtr here_ = std::make_shared<Pipe>();  ///< without bytes: ends with this end of the connection only
    std::string peer_;
  };

  struct Door {
    std::deque<replica::ByteStreamPtr> waiting;
    mad::WaitList wake;
  };

  class Host final : public replica::Network {
   public:
    Host(MemoryNetwork& network, std::string name) : network_(network), name_(std::move(name)) {
      network_.doors_[name_] = std::make_shared<Door>();
    }
    ~Host() override { network_.doors_.erase(name_); }
    asio::awaitable<std::expected<replica::ByteStreamPtr, std::string>> connect(std::string peer) override {
      const auto door = network_.doors_.find(peer);
      if (network_.cut || door == network_.doors_.end()) co_return std::unexpected("no route to host");
      const auto there = std::make_shared<Pipe>(), back = std::make_shared<Pipe>();
      network_.pipes_.push_back(there);
      network_.pipes_.push_back(back);
      door->second->waiting.push_back(std::make_unique<End>(network_, there, back, name_));
      door->second->wake.wake_all();
      co_return std::make_unique<End>(network_, back, there, peer);
    }
    asio::awaitable<std::expected<replica::ByteStreamPtr, std::string>> accept() override {
      const auto door = network_.doors_.at(name_);
      while (door->waiting.empty()) {
        const bool woken = co_await door->wake.wait();
        if (!woken) co_return nullptr;
      }
      auto stream = std::move(door->waiting.front());
      door->waiting.pop_front();
      if (network_.refused.empty()) co_return stream;
      const auto who = stream->peer();
      stream->close();
      co_return std::unexpected(who + ": " + network_.refused);
    }

   private:
    MemoryNetwork& network_;
    std::string name_;
  };

  mad::Clock& clock_;
  std::map<std::string, std::shared_ptr<Door>> doors_;
  std::vector<std::weak_ptr<Pipe>> pipes_;
};

}  // namespace smd::test
