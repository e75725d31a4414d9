// SPDX-License-Identifier: Apache-2.0
// A manager that finds, while it writes, that it has stood still.
#include <gtest/gtest.h>

#include "tests/support/managed_world.h"

namespace smd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Managed;

/// The world's clock; the machine was suspended before the given look at uptime(), of which there is one for
/// each Set, and `again` looks later each time (0: never again).
class SuspendedAt final : public mad::Clock {
 public:
  SuspendedAt(mad::Clock& clock, unsigned look, unsigned again = 0)
      : clock_(clock), again_(again), left_(look) {}
  mad::TimePoint now() const override { return clock_.now(); }
  mad::TimePoint uptime() const override {
    if (left_ != 0 && --left_ == 0) {
      suspended_ += seconds(100);
      left_ = again_;
    }
    return clock_.now() + suspended_;
  }
  TimerId call_at(mad::TimePoint at, std::move_only_function<void()> fire) override {
    return clock_.call_at(at, std::move(fire));
  }
  void cancel(TimerId id) override { clock_.cancel(id); }

 private:
  mad::Clock& clock_;
  unsigned again_;
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

/// As on a large fabric, whose every sweep is longer than a standstill: the sweep goes on where it was held,
/// instead of failing with all that is left.
TEST(StandstillInASweep, ManyOfThemDoNotKeepTheFabricDown) {
  sim::World world(test::spec("ft2:8"));
  SuspendedAt clock(world.clock(), 50, 50);
  config::SubnetConfig config;
  config.sweep.interval = std::chrono::hours(1);
  Managed manager(world, clock, config);

  test::run_for(world, {&*manager}, seconds(5));

  EXPECT_GT(manager.lines().count("sm.stood_still"), 4U);
  EXPECT_EQ(manager.lines().count("sweep=heavy"), 1U);
  EXPECT_EQ(manager.lines().count("set.failed"), 0U);
  EXPECT_EQ(manager.last().summary.state, sm::SweepState::up) << manager.last().summary.why;
  EXPECT_TRUE(world.fabric().reach().all());
}

/// A manager whose thread hangs while `hangs` is true: what arrives and what is due wait until then.
class Hanging {
 public:
  Hanging(sim::World& world, const sim::Place& place, config::SubnetConfig config)
      : clock_(world.clock(), waiting_, hangs_),
        transport_(world.transport(place), waiting_, hangs_),
        manager_({.executor = world.io().get_executor(),
                  .clock = clock_,
                  .smi = transport_,
                  .compute = compute_,
                  .log = log::Log(),
                  .claim_sm = [this] { return transport_.claim(); },
                  .seed = 9},
                 "hanging", std::move(config), {}) {}

  sm::SubnetManager* operator->() { return &manager_; }
  void hang() { hangs_ = true; }
  void go_on() {
    hangs_ = false;
    for (auto& call : std::exchange(waiting_, {})) call();
  }

 private:
  using Calls = std::vector<std::move_only_function<void()>>;

  class Clock final : public mad::Clock {
   public:
    Clock(mad::Clock& clock, Calls& waiting, const bool& hangs)
        : clock_(clock), waiting_(waiting), hangs_(hangs) {}
    mad::TimePoint now() const override { return clock_.now(); }
    TimerId call_at(mad::TimePoint at, std::move_only_function<void()> fire) override {
      return clock_.call_at(at, [this, call = std::move(fire)]() mutable {
        if (!hangs_) return call();
        waiting_.push_back(std::move(call));
      });
    }
    void cancel(TimerId id) override { clock_.cancel(id); }

   private:
    mad::Clock& clock_;
    Calls& waiting_;
    const bool& hangs_;
  };

  class Transport final : public mad::Transport {
   public:
    Transport(std::unique_ptr<sim::Transport> inner, Calls& waiting, const bool& hangs)
        : inner_(std::move(inner)), waiting_(waiting), hangs_(hangs) {}
    void on_receive(Sink sink) override {
      sink_ = std::move(sink);
      inner_->on_receive([this](std::span<mad::Received> mads) {
        if (!hangs_) return sink_(mads);
        waiting_.push_back(
            [this, kept = std::vector<mad::Received>(mads.begin(), mads.end())]() mutable { sink_(kept); });
      });
    }
    std::expected<void, mad::TransportError> send(std::span<const std::uint8_t> mad, const mad::Route& route,
                                                  std::chrono::milliseconds give_up) override {
      return inner_->send(mad, route, give_up);
    }
    std::expected<mad::LocalPort, mad::TransportError> local() const override { return inner_->local(); }
    std::expected<void, std::string> claim() {
      if (inner_->claim_sm()) return {};
      return std::unexpected("taken");
    }

   private:
    std::unique_ptr<sim::Transport> inner_;
    Sink sink_;
    Calls& waiting_;
    const bool& hangs_;
  };

  Calls waiting_;
  bool hangs_ = false;
  Clock clock_;
  Transport transport_;
  sm::InlineCompute compute_;
  sm::SubnetManager manager_;
};

/// Its port is up, its process lives, and nothing answers SMInfo.
TEST(StandstillOfAThread, AMasterWhoseThreadHangsForAMinuteIsReplacedAndDoesNoHarm) {
  sim::World world(test::spec("ft2:4"));
  config::SubnetConfig high;
  high.sm.priority = 5;
  Hanging master(world, {"h00000", PortNum{1}}, high);
  Managed standby(world, sim::Place{"h00003", PortNum{1}});
  mad::TaskGroup first(world.io().get_executor()), second(world.io().get_executor());
  first.spawn(master->run());
  world.run_for(seconds(2));
  second.spawn(standby->run());
  world.run_for(seconds(5));
  ASSERT_EQ(standby->sms()->state.sm, wire::SmState::standby);

  master.hang();
  world.run_for(seconds(2));
  EXPECT_EQ(standby->sms()->state.sm, wire::SmState::master) << testing::PrintToString(standby.lines().all);
  world.run_for(seconds(58));
  const auto sets = master->counters().total(&mad::AttributeCounters::sent, wire::Method::set);

  master.go_on();
  const auto written = [&] {
    return master->counters().total(&mad::AttributeCounters::sent, wire::Method::set) != sets;
  };
  while (!written() && world.now() < mad::TimePoint(seconds(90))) world.run_for(milliseconds(1));
  EXPECT_EQ(standby->sms()->state.sm, wire::SmState::standby);  // before the first Set
  world.run_for(seconds(15));

  // It ranks higher: by HANDOVER it is master again.
  EXPECT_EQ(master->sms()->state.sm, wire::SmState::master) << testing::PrintToString(standby.lines().all);
  EXPECT_EQ(standby->sms()->state.sm, wire::SmState::standby);
  world.run(first.stop());
  world.run(second.stop());
}

}  // namespace
}  // namespace smd
