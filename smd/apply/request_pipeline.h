// SPDX-License-Identifier: Apache-2.0
#pragma once
// Many requests, so many at a time: without a coroutine each, because a large fabric is written with
// millions.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "mad/asio.h"
#include "mad/clock.h"
#include "mad/suspend.h"
#include "mad/transactions/transactions.h"

namespace smd::sm::inline applying {

/// One request and what to do with its answer; a job that the answer asks for takes its place.
struct Job {
  mad::Request request;
  std::move_only_function<std::optional<Job>(mad::Answer)> done;
};

/// On the io_context's thread.
class RequestPipeline {
 public:
  /// Where the next job comes from; nothing: there is none any more.
  using Source = std::move_only_function<std::optional<Job>()>;

  /// `urgent` (may be empty): asked while nothing ends; where it says so what is open is given up.
  RequestPipeline(mad::Transactions& tx, mad::Clock& clock, std::size_t width,
                  std::function<bool()> urgent = {})
      : tx_(tx), clock_(clock), urgent_(std::move(urgent)), slots_(width) {}
  RequestPipeline(const RequestPipeline&) = delete;
  RequestPipeline& operator=(const RequestPipeline&) = delete;

  /// Returns when all jobs have ended. False when cancelled: open requests are ended, no new ones begun.
  asio::awaitable<bool> run(Source source);
  /// Whether any request was given up for something newer.
  bool gave_up() const { return gave_up_; }
  /// Whether Sets are held since a standstill: no further job was begun.
  bool held() const { return held_; }

 private:
  struct Slot {
    mad::Transactions::RequestId id = 0;
    std::optional<Job> job;
  };
  bool fill(std::size_t slot);
  void begin(std::size_t slot, Job&& job);
  void ended(std::size_t slot, mad::Answer answer);
  void give_up();

  mad::Transactions& tx_;
  mad::Clock& clock_;
  std::function<bool()> urgent_;
  Source source_;
  std::vector<Slot> slots_;
  std::size_t open_ = 0;
  std::uint64_t ended_ = 0;
  bool stopping_ = false, gave_up_ = false, held_ = false;
  mad::WaitList done_;
};

}  // namespace smd::sm::inline applying
