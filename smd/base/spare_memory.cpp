// SPDX-License-Identifier: Apache-2.0
#include "smd/base/spare_memory.h"

#include <malloc.h>

#include <chrono>
#include <utility>

namespace smd::sm::inline common {
namespace {

/// By then what a change has replaced is decided anew, and its memory is free.
constexpr mad::Duration kGiveBackAfter = std::chrono::seconds(5);

}  // namespace

void SpareMemory::give_back() { malloc_trim(0); }

void SpareMemory::give_back_soon() {
  if (!std::exchange(waits_, true)) tasks_.spawn(give_back_later());
}

asio::awaitable<void> SpareMemory::give_back_later() {
  const bool slept = co_await clock_.sleep(kGiveBackAfter);
  waits_ = false;
  if (slept) co_await compute_.execute([] { give_back(); });
}

}  // namespace smd::sm::inline common
