// SPDX-License-Identifier: Apache-2.0
#include "mad/task_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "mad/virtual_clock.h"

namespace smd::mad {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

void run(asio::io_context& io, VirtualClock& clock) {
  do {
    io.restart();
    io.poll();
  } while (clock.advance());
}

asio::awaitable<void> worker(Clock* clock, Duration pause, int rounds, std::vector<int>* log, int name) {
  for (int i = 0; i < rounds; ++i) {
    const bool in_time = co_await clock->sleep(pause);
    if (!in_time) break;
    log->push_back(name);
  }
}

asio::awaitable<void> finish(TaskGroup* group, bool* done) {
  co_await group->join();
  *done = true;
}

asio::awaitable<void> end(TaskGroup* group, bool* done) {
  co_await group->stop();
  *done = true;
}

TEST(TaskGroup, JoinReturnsWhenTheLastTaskHasEnded) {
  asio::io_context io;
  VirtualClock clock;
  TaskGroup group(io.get_executor());
  std::vector<int> log;
  bool done = false;
  group.spawn(worker(&clock, 10ms, 2, &log, 1));
  group.spawn(worker(&clock, 15ms, 1, &log, 2));
  asio::co_spawn(io, finish(&group, &done), [](const std::exception_ptr&) {});
  EXPECT_EQ(group.count(), 2U);

  run(io, clock);

  EXPECT_TRUE(done);
  EXPECT_THAT(log, ElementsAre(1, 2, 1));
  EXPECT_EQ(group.count(), 0U);
}

TEST(TaskGroup, StopCancelsWhatWaitsAndNothingStartsAfterwards) {
  asio::io_context io;
  VirtualClock clock;
  TaskGroup group(io.get_executor());
  std::vector<int> log;
  bool done = false, again = false;
  for (int i = 0; i < 100; ++i) group.spawn(worker(&clock, 1h, 5, &log, i));
  io.poll();
  asio::co_spawn(io, end(&group, &done), [](const std::exception_ptr&) {});
  asio::co_spawn(io, end(&group, &again), [](const std::exception_ptr&) {});

  run(io, clock);
  group.spawn(worker(&clock, 1ms, 5, &log, 7));
  run(io, clock);

  EXPECT_TRUE(done && again);
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(clock.now(), TimePoint{0s});
}

asio::awaitable<void> stubborn(Clock* clock, int* rounds) {
  while (*rounds < 10) {  // goes on after it was cancelled: each wait then returns at once
    co_await clock->sleep(1s);
    ++*rounds;
  }
}

TEST(TaskGroup, ACancelledTaskNeverWaitsAgainAndNothingThrows) {
  asio::io_context io;
  VirtualClock clock;
  TaskGroup group(io.get_executor());
  int rounds = 0;
  bool done = false;
  group.spawn(stubborn(&clock, &rounds));
  asio::co_spawn(io, end(&group, &done), [](const std::exception_ptr&) {});

  run(io, clock);

  EXPECT_TRUE(done);
  EXPECT_EQ(rounds, 10);
  EXPECT_EQ(clock.now(), TimePoint{0s});
}

asio::awaitable<void> thrower() {
  throw std::runtime_error("boom");
  co_return;
}

TEST(TaskGroupDeathTest, ATaskThatThrowsEndsTheProcess) {
  const auto throw_in_a_task = [] {
    asio::io_context io;
    TaskGroup group(io.get_executor());
    group.spawn(thrower());
    io.run();
  };
  EXPECT_DEATH(throw_in_a_task(), "a task ended by an exception, which none may: boom");
}

}  // namespace
}  // namespace smd::mad
