// SPDX-License-Identifier: Apache-2.0
#pragma once
// The other end of a stream of frames, where that is no peer: it speaks as a standby, or as a master, does.

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mad/suspend.h"
#include "smd/replica/byte_stream.h"
#include "smd/replica/frames.h"
#include "smd/replica/journal.h"

namespace smd::etcd {

using replica::Bytes;
using replica::BytesPtr;

/// On one thread.
class Agent {
 public:
  Agent() = default;
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;
  virtual ~Agent() = default;

  /// A frame for us. Returns when there is room for more; false where the agent has ended.
  virtual asio::awaitable<bool> take(BytesPtr frame) = 0;
  /// Ends the agent.
  virtual void close() {
    closed_ = true;
    out_wake_.wake_all();
    out_room_.wake_all();
  }
  bool closed() const { return closed_; }

  /// What the agent says; empty: it has ended.
  asio::awaitable<Bytes> said() {
    while (!closed_ && out_.empty()) {
      const bool woken = co_await out_wake_.wait();
      if (!woken) co_return Bytes{};
    }
    if (closed_) co_return Bytes{};
    auto frame = std::move(out_.front());
    out_.pop_front();
    waiting_ -= frame.size();
    out_room_.wake_all();
    co_return frame;
  }

 protected:
  void say(Bytes frame) {
    waiting_ += frame.size();
    out_.push_back(std::move(frame));
    out_wake_.wake_all();
  }
  /// Until what was said is not too much; false where the agent has ended.
  asio::awaitable<bool> room() {
    constexpr std::size_t kMost = std::size_t{2} << 20U;
    while (!closed_ && waiting_ > kMost) {
      const bool woken = co_await out_room_.wait();
      if (!woken) co_return false;
    }
    co_return !closed_;
  }

 private:
  std::deque<Bytes> out_;
  std::size_t waiting_ = 0;  ///< bytes
  mad::WaitList out_wake_, out_room_;
  bool closed_ = false;
};

/// The stream whose other end an agent is. The agent ends with it.
class AgentStream final : public replica::ByteStream {
 public:
  AgentStream(std::shared_ptr<Agent> agent, std::string name)
      : agent_(std::move(agent)), name_(std::move(name)) {}
  ~AgentStream() override { agent_->close(); }
  asio::awaitable<std::vector<std::uint8_t>> read() override {
    const auto agent = agent_;
    co_return co_await agent->said();
  }
  asio::awaitable<bool> write(std::shared_ptr<const std::vector<std::uint8_t>> bytes) override {
    const auto agent = agent_;
    co_return co_await agent->take(std::move(bytes));
  }
  void close() override { agent_->close(); }
  std::string peer() const override { return name_; }

 private:
  std::shared_ptr<Agent> agent_;
  std::string name_;
};

}  // namespace smd::etcd
