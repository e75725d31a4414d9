// SPDX-License-Identifier: Apache-2.0
#include "smd/api/large_bodies.h"

#include <utility>

namespace smd::api {

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
    sm::SpareMemory::give_back();
  });
  turn_.give();
  co_return done;
}

}  // namespace smd::api
