// SPDX-License-Identifier: Apache-2.0
// A manager that finds, while it writes, that it has stood still.
#include <gtest/gtest.h>

#include "tests/support/managed_world.h"

namespace smd {
namespace {

using std::chrono::seconds;
using test::Managed;

/// The world's clock; the machine was suspended before the given look at uptime(), of which there is one for
/// each Set.
class SuspendedAt final : public mad::Clock {
 public:
  SuspendedAt(mad::Clock& clock, unsigned look) : clock_(clock), left_(look) {}
  mad::TimePoint now() const override { return clock_.now(); }
  mad::TimePoint uptime() const override {
    if (left_ != 0 && --left_ == 0) suspended_ = seconds(100);
    return clock_.now() + suspended_;
  }
  TimerId call_at(mad::TimePoint at, std::move_only_function<void()> fire) override {
    return clock_.call_at(at, std::move(fire));
  }
  void cancel(TimerId id) override { clock_.cancel(id); }

 private:
  mad::Clock& clock_;
  mutable unsigned left_;
  mutable mad::Duration suspended_{};
};

/// What was held is written once the other SMs have been read, and not with the next heavy sweep.
TEST(StandstillInASweep, HeldSetsAreWrittenSoon) {
  for (const unsigned look : {5U, 40U, 100U, 200U, 280U}) {
    sim::World world(test::spec("ft2:8"));
    SuspendedAt clock(world.clock(), look);
    config::SubnetConfig config;
    config.sweep.interval = std::chrono::hours(1);
    Managed manager(world, clock, config);

    test::run_for(world, {&*manager}, seconds(5));

    EXPECT_EQ(manager.lines().count("sm.stood_still"), 1U) << look;
    EXPECT_EQ(manager.last().summary.state, sm::SweepState::up) << look << manager.last().summary.why;
    EXPECT_TRUE(world.fabric().reach().all()) << look;
  }
}

}  // namespace
}  // namespace smd
