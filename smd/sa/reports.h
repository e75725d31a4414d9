// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reports on their way to subscribers: each is sent until it is answered or its subscriber counts as gone.

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "mad/asio.h"
#include "mad/clock.h"
#include "mad/task_group.h"
#include "mad/transport.h"
#include "smd/log/log.h"
#include "smd/sa/registry/subscriptions.h"

namespace smd::sa {

struct Report {
  std::shared_ptr<const std::vector<std::uint8_t>> mad;  ///< its transaction is filled in
  mad::LidRoute to;
  Addressee subscriber;
  std::chrono::milliseconds wait{1000};  ///< for its answer, each time that it is sent
};

/// How long a subscriber may take to answer that has said so (InformInfo.RespTimeValue, 4.096 us times a
/// power of 2): from 1 to 10 s.
std::chrono::milliseconds report_wait(std::uint8_t response_time);

struct ReportBatch {
  std::vector<Report> reports;
  std::size_t dropped_events = 0;  ///< that nobody is told of, for want of room
};

/// On the thread of the transport. stop() ends before it dies.
class Reports {
 public:
  static constexpr unsigned kTries = 4;
  static constexpr std::size_t kOpen = 256;      ///< at once
  static constexpr std::size_t kQueue = 262144;  ///< events behind are counted, and nobody is told

  /// `gone` is called with a queue pair that has not answered kTries times; others of its port live on.
  Reports(asio::any_io_executor executor, mad::Transport& gsi, mad::Clock& clock, log::Log log,
          std::function<void(const Addressee&)> gone);

  void add(ReportBatch batch);
  /// Reports that may be added; an event's subscribers are told all or none.
  std::size_t room() const { return queue_.size() < kQueue ? kQueue - queue_.size() : 0; }
  /// A ReportResp has come.
  void answered(std::uint64_t tid);
  asio::awaitable<void> stop() { return tasks_.stop(); }
  std::size_t open() const { return open_.size() + queue_.size(); }

 private:
  struct Open {
    Report report;
    std::uint32_t tid = 0;
    unsigned tries = 0;
    mad::TimePoint until{};
  };
  void pump();
  void send(Open open);
  asio::awaitable<void> resend();

  mad::Transport& gsi_;
  mad::Clock& clock_;
  log::Log log_;
  std::function<void(const Addressee&)> gone_;
  std::uint32_t next_tid_ = 0x5A000000;
  std::deque<Report> queue_;
  std::unordered_map<std::uint32_t, Open> open_;
  mad::WaitList wake_;
  mad::TaskGroup tasks_;
};

}  // namespace smd::sa
