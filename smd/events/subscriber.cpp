// SPDX-License-Identifier: Apache-2.0
#include "smd/events/subscriber.h"

#include <boost/asio/dispatch.hpp>
#include <optional>
#include <utility>

#include "mad/base/bug.h"

namespace smd::events {

/// On the executor's thread, but for the wake call, which only knows it weakly.
struct Subscriber::State : std::enable_shared_from_this<State> {
  State(asio::any_io_executor runs_on, Calls what) : executor(std::move(runs_on)), calls(std::move(what)) {}
  void run();
  void hand_over(const Batch& batch) const;

  asio::any_io_executor executor;
  Calls calls;
  std::optional<Reader> reader;
  bool running = false;
};

void Subscriber::State::hand_over(const Batch& batch) const {
  if (batch.gap && calls.gap) calls.gap(*batch.gap);
  for (const auto& event : batch.events) calls.event(*event);
}

/// Until there is no more. After some hundred events other work of the executor has its turn.
void Subscriber::State::run() {
  constexpr unsigned kTurn = 8;
  constexpr std::size_t kBatch = 64;
  if (running || !reader) return;  // publish() within a call: that call goes on reading
  running = true;
  bool more = true;
  for (unsigned turn = 0; more && turn < kTurn; ++turn) {
    const auto batch = reader->read(kBatch);
    more = !batch.events.empty() || !batch.at_end;
    hand_over(batch);
  }
  running = false;
  if (!more) return;
  asio::post(executor, [weak = weak_from_this()] {
    if (const auto state = weak.lock()) state->run();
  });
}

Subscriber::Subscriber(asio::any_io_executor executor, EventRing& ring, Wants wants, Calls calls, Start start)
    : state_(std::make_shared<State>(std::move(executor), std::move(calls))) {
  auto wake = [weak = std::weak_ptr(state_), runs_on = state_->executor] {
    asio::dispatch(runs_on, [weak] {
      if (const auto state = weak.lock()) state->run();
    });
  };
  state_->reader.emplace(ring, start, std::move(wants), std::move(wake));
  if (start.is_end()) return;
  asio::post(state_->executor, [weak = std::weak_ptr(state_)] {
    if (const auto state = weak.lock()) state->run();
  });
}

Subscriber::~Subscriber() {
  SMD_ASSERT(!state_->running);
  state_->reader.reset();
}

}  // namespace smd::events
