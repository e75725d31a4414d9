// SPDX-License-Identifier: Apache-2.0
// With which priority and slices of time the threads of a pool work.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/detached.hpp>
#include <cstdint>
#include <cstring>
#include <latch>
#include <thread>

#include "mad/base/scheduling.h"
#include "smd/base/compute.h"

namespace smd::sm {
namespace {

struct OfThread {
  int nice = 0;
  std::uint64_t slice = 0;  ///< ns; 0: not known
};

OfThread of_this_thread() {
  OfThread found{.nice = getpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)))};
  std::array<std::uint8_t, 48> attributes{};  // sched_runtime of struct sched_attr is at byte 24
  if (syscall(SYS_sched_getattr, 0, attributes.data(), attributes.size(), 0) == 0)
    std::memcpy(&found.slice, attributes.data() + 24, sizeof(found.slice));
  return found;
}

/// Of each of the pool's two threads.
std::array<OfThread, 2> of_threads(PoolCompute& compute) {
  std::array<OfThread, 2> found;
  std::latch both(2);
  asio::io_context io(1);
  for (auto& one : found) {
    const auto look = [](PoolCompute* pool, std::latch* all, OfThread* out) -> asio::awaitable<void> {
      co_await pool->execute([&] {
        *out = of_this_thread();
        all->arrive_and_wait();  // the other one is in the other thread
      });
    };
    asio::co_spawn(io, look(&compute, &both, &one), asio::detached);
  }
  io.run();
  return found;
}

TEST(ComputePool, EachThreadHasTheLowerPriorityOnce) {
  const int ours = getpriority(PRIO_PROCESS, 0);
  for (int i = 0; i < 50; ++i) {
    PoolCompute lower(2), same(2, PoolCompute::Priority::same);
    for (const auto& thread : of_threads(lower)) EXPECT_EQ(thread.nice, std::min(19, ours + 5));
    for (const auto& thread : of_threads(same)) EXPECT_EQ(thread.nice, ours);
  }
}

/// Beside threads that compute each hop of an answer would take a slice of theirs.
TEST(ComputePool, ThreadsThatMakeAnswersAreWokenAtOnce) {
  OfThread before, after;
  std::thread([&] {
    before = of_this_thread();
    base::wake_at_once();
    after = of_this_thread();
  }).join();
  if (after.slice == before.slice) GTEST_SKIP() << "this system keeps a thread from asking";
  PoolCompute answering(2);
  for (const auto& thread : of_threads(answering)) EXPECT_EQ(thread.slice, after.slice);
}

}  // namespace
}  // namespace smd::sm
