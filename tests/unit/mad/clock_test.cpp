// SPDX-License-Identifier: Apache-2.0
#include "mad/clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "mad/real_clock.h"
#include "mad/task_group.h"
#include "mad/virtual_clock.h"

namespace smd::mad {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

TEST(VirtualClock, FiresInTheOrderOfDeadlinesAndThenOfCalls) {
  VirtualClock clock;
  std::vector<int> fired;
  clock.call_at(TimePoint{20ms}, [&] { fired.push_back(3); });
  clock.call_at(TimePoint{10ms}, [&] { fired.push_back(1); });
  clock.call_at(TimePoint{10ms}, [&] { fired.push_back(2); });

  EXPECT_EQ(clock.next(), TimePoint{10ms});
  EXPECT_TRUE(clock.advance());
  EXPECT_THAT(fired, ElementsAre(1, 2));
  EXPECT_TRUE(clock.advance());
  EXPECT_EQ(clock.now(), TimePoint{20ms});
  EXPECT_FALSE(clock.advance());
  EXPECT_EQ(clock.now(), TimePoint{20ms});
}

TEST(VirtualClock, ATimerInThePastFiresWithoutTimeGoingBack) {
  VirtualClock clock;
  clock.call_at(TimePoint{1s}, [] {});
  clock.advance();
  bool fired = false;
  clock.call_at(TimePoint{10ms}, [&] { fired = true; });

  clock.advance();

  EXPECT_TRUE(fired);
  EXPECT_EQ(clock.now(), TimePoint{1s});
}

TEST(VirtualClock, WhatATimerAddsForNowWaitsForTheNextAdvance) {
  VirtualClock clock;
  int fired = 0;
  clock.call_at(TimePoint{1ms}, [&] { clock.call_at(clock.now(), [&] { ++fired; }); });

  clock.advance();
  EXPECT_EQ(fired, 0);
  clock.advance();
  EXPECT_EQ(fired, 1);
}

TEST(VirtualClock, ACancelledTimerIsGoneAndItsIdNeverHitsAnother) {
  VirtualClock clock;
  int fired = 0;
  const auto first = clock.call_at(TimePoint{1ms}, [&] { fired += 1; });
  clock.cancel(first);
  const auto second = clock.call_at(TimePoint{2ms}, [&] { fired += 10; });
  clock.cancel(first);
  clock.cancel(0);
  clock.cancel(~Clock::TimerId{0});

  EXPECT_NE(first, second);
  EXPECT_EQ(clock.waiting(), 1U);
  EXPECT_TRUE(clock.advance());
  EXPECT_EQ(fired, 10);
}

TEST(VirtualClock, ThousandsOfRandomTimersAndCancelsFireLikeASortedList) {
  VirtualClock clock;
  std::mt19937 random(7);
  std::set<std::tuple<TimePoint, int, Clock::TimerId>> model;
  std::vector<int> fired, expected;
  for (int i = 0; i < 5000; ++i) {
    const TimePoint at{std::chrono::milliseconds(random() % 500)};
    model.emplace(at, i, clock.call_at(at, [&fired, i] { fired.push_back(i); }));
    if (random() % 3 == 0) {
      const auto victim = std::next(model.begin(), static_cast<std::ptrdiff_t>(random() % model.size()));
      clock.cancel(std::get<2>(*victim));
      model.erase(victim);
    }
  }

  while (clock.advance()) {
  }

  for (const auto& [at, number, id] : model) expected.push_back(number);
  EXPECT_EQ(fired, expected);
}

asio::awaitable<void> note_until(Clock* clock, TimePoint at, std::vector<bool>* notes) {
  const bool in_time = co_await clock->until(at);
  notes->push_back(in_time);
}

TEST(Clock, UntilReturnsTrueWhenItIsTimeAndFalseWhenCancelled) {
  asio::io_context io;
  VirtualClock clock;
  std::vector<bool> notes;
  TaskGroup group(io.get_executor());
  group.spawn(note_until(&clock, TimePoint{1s}, &notes));
  group.spawn(note_until(&clock, TimePoint{2s}, &notes));
  io.poll();
  io.restart();

  clock.advance();
  io.poll();
  io.restart();
  EXPECT_THAT(notes, ElementsAre(true));
  asio::co_spawn(io, group.stop(), [](const std::exception_ptr&) {});
  io.poll();

  EXPECT_THAT(notes, ElementsAre(true, false));
  EXPECT_EQ(clock.waiting(), 0U);
  EXPECT_EQ(clock.now(), TimePoint{1s});
}

TEST(RealClock, FiresAfterTheDeadlineAndInOrder) {
  asio::io_context io;
  RealClock clock(io);
  std::vector<int> fired;
  const auto start = clock.now();
  TimePoint late{};
  clock.call_at(start + 20ms, [&] {
    fired.push_back(2);
    late = clock.now();
  });
  clock.call_at(start + 5ms, [&] { fired.push_back(1); });
  const auto never = clock.call_at(start + 1h, [&] { fired.push_back(3); });
  clock.call_at(start + 6ms, [&] { clock.cancel(never); });

  io.run();

  EXPECT_THAT(fired, ElementsAre(1, 2));
  EXPECT_GE(late, start + 20ms);
}

TEST(RealClock, MayDieWithTimersWaiting) {
  asio::io_context io;
  auto clock = std::make_unique<RealClock>(io);
  bool fired = false;
  clock->call_at(clock->now(), [&] { fired = true; });
  clock.reset();

  io.run();

  EXPECT_FALSE(fired);
}

}  // namespace
}  // namespace smd::mad
