// SPDX-License-Identifier: Apache-2.0
#include "mad/suspend.h"

#include <algorithm>
#include <utility>

namespace smd::mad {
namespace {

struct Start {
  std::move_only_function<void(SuspensionPtr)> begin;

  void operator()(auto handler) {
    auto slot = asio::get_associated_cancellation_slot(handler);
    auto executor = asio::get_associated_executor(handler);
    auto sleeper = std::make_shared<Suspension>(std::move(executor), std::move(handler));
    if (slot.is_connected()) {
      slot.assign([weak = std::weak_ptr(sleeper)](asio::cancellation_type) {
        if (const auto alive = weak.lock()) alive->resume(false);
      });
    }
    begin(std::move(sleeper));
  }
};

}  // namespace

void Suspension::resume(bool value) {
  if (!pending()) return;
  // Through the io_context: the caller of resume() is in the middle of its own work. Moved-from is not yet
  // empty.
  auto done = std::exchange(done_, nullptr);
  asio::post(executor_, [done = std::move(done), value]() mutable { done(value); });
}

asio::awaitable<bool> suspend(std::move_only_function<void(SuspensionPtr)> begin) {
  const auto state = co_await asio::this_coro::cancellation_state;
  if (state.cancelled() != asio::cancellation_type::none) co_return false;
  Start start{std::move(begin)};
  const auto token = asio::use_awaitable;
  co_return co_await asio::async_initiate<const asio::use_awaitable_t<>, void(bool)>(std::move(start), token);
}

asio::awaitable<bool> was_cancelled() {
  const auto state = co_await asio::this_coro::cancellation_state;
  co_return state.cancelled() != asio::cancellation_type::none;
}

asio::awaitable<bool> WaitList::wait() {
  SuspensionPtr mine;
  std::move_only_function<void(SuspensionPtr)> begin = [this, &mine](SuspensionPtr sleeper) {
    mine = sleeper;
    sleepers_.push_back(std::move(sleeper));
  };
  const bool woken = co_await suspend(std::move(begin));
  if (!woken && mine != nullptr) sleepers_.remove(mine);
  co_return woken;
}

bool WaitList::wake_one() {
  while (!sleepers_.empty()) {
    const auto first = std::move(sleepers_.front());
    sleepers_.pop_front();
    if (!first->pending()) continue;  // cancelled a moment ago
    first->resume(true);
    return true;
  }
  return false;
}

void WaitList::wake_all() {
  while (wake_one()) {
  }
}

bool WaitList::empty() const {
  return std::ranges::none_of(sleepers_, [](const auto& sleeper) { return sleeper->pending(); });
}

}  // namespace smd::mad
