// SPDX-License-Identifier: Apache-2.0
#include "smd/ha/standstill.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "mad/virtual_clock.h"

namespace smd::sm {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A clock of a process that can be stopped: time goes on, timers do not.
class Stoppable final : public mad::Clock {
 public:
  mad::TimePoint now() const override { return clock_.now() + stopped_; }
  mad::TimePoint uptime() const override { return now() + suspended_; }
  TimerId call_at(mad::TimePoint at, std::move_only_function<void()> fire) override {
    return clock_.call_at(at - stopped_, std::move(fire));
  }
  void cancel(TimerId id) override { clock_.cancel(id); }
  void stop_for(mad::Duration time) { stopped_ += time; }
  void suspend_for(mad::Duration time) { suspended_ += time; }
  void run_for(mad::Duration time) {
    const auto end = clock_.now() + time;
    while (clock_.next() && *clock_.next() <= end) clock_.advance();
    clock_.call_at(end, [] {});
    clock_.advance();
  }

 private:
  mad::VirtualClock clock_;
  mad::Duration stopped_{}, suspended_{};
};

class StandstillTest : public testing::Test {
 protected:
  Stoppable clock_;
  std::vector<mad::Duration> found_;
  Standstill standstill_{clock_, seconds(1), [this](mad::Duration took) { found_.push_back(took); }};
};

TEST_F(StandstillTest, IsNotFoundWhileTimersRun) {
  standstill_.start();
  clock_.run_for(seconds(100));
  standstill_.check();

  EXPECT_TRUE(found_.empty());
}

TEST_F(StandstillTest, IsFoundBeforeTheFirstTimerRuns) {
  standstill_.start();
  clock_.run_for(seconds(3));
  clock_.stop_for(seconds(5));

  standstill_.check();
  standstill_.check();

  ASSERT_EQ(found_.size(), 1U);
  EXPECT_GE(found_.front(), seconds(5));
  EXPECT_EQ(standstill_.count(), 1U);
}

TEST_F(StandstillTest, IsFoundByItsOwnBeat) {
  standstill_.start();
  clock_.run_for(seconds(3));
  clock_.stop_for(milliseconds(1100));
  clock_.run_for(milliseconds(300));

  EXPECT_EQ(found_.size(), 1U);
}

TEST_F(StandstillTest, OfASuspendedMachineIsFound) {
  standstill_.start();
  clock_.run_for(seconds(3));
  clock_.suspend_for(seconds(60));
  clock_.run_for(seconds(1));

  EXPECT_EQ(found_.size(), 1U);
}

TEST_F(StandstillTest, ShorterThanTheLimitIsNone) {
  standstill_.start();
  clock_.run_for(seconds(3));
  clock_.stop_for(milliseconds(700));
  standstill_.check();
  clock_.run_for(seconds(3));

  EXPECT_TRUE(found_.empty());
}

}  // namespace
}  // namespace smd::sm
