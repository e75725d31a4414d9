// SPDX-License-Identifier: Apache-2.0
#include "smd/api/large_bodies.h"

#include <malloc.h>

#include <chrono>
#include <utility>

namespace smd::api {
namespace {

/// By then what a change has replaced is decided anew, and its memory is free.
constexpr mad::Duration kGiveBackAfter = std::chrono::seconds(5);

/// malloc keeps free pages that lie between others.
void give_back_memory() { malloc_trim(0); }

}  // namespace

asio::awaitable<LargeBodies::PlacePtr> LargeBodies::place() {
  while (reading_ == kRead) {
    const bool woken = co_await readers_.wait();
    if (!woken) co_return nullptr;
  }
  co_return std::make_unique<Place>(*this);
}

asio::awaitable<bool> LargeBodies::execute(std::move_only_function<void()> work) {
  const bool ours = co_await turn_.take();
  if (!ours) co_return false;
  const bool done = co_await compute_.execute([task = std::move(work)]() mutable {
    task();
    give_back_memory();
  });
  turn_.give();
  co_return done;
}

void LargeBodies::give_back_soon() {
  if (!std::exchange(gives_back_, true)) tasks_.spawn(give_back_later());
}

asio::awaitable<void> LargeBodies::give_back_later() {
  const bool slept = co_await clock_.sleep(kGiveBackAfter);
  gives_back_ = false;
  if (slept) co_await compute_.execute([] { give_back_memory(); });
}

}  // namespace smd::api
