// SPDX-License-Identifier: Apache-2.0
// Never two masters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "tests/support/managed_world.h"
#include "tests/support/sim_lab.h"

namespace smd {
namespace {

using test::Managed;
using wire::SmState;

sm::SubnetManager* of(Managed& managed) { return &*managed; }

TEST(Masters, OfTwoThatStartTogetherTheHigherPriorityIsMaster) {
  sim::World world(test::spec("ft2:4"));
  config::SubnetConfig low, high;
  high.sm.priority = 5;
  Managed one(world, "h00000", low), other(world, "h00003", high);

  test::run_for(world, {of(one), of(other)}, std::chrono::seconds(20));

  EXPECT_EQ(other.last().state, SmState::master);
  EXPECT_EQ(one.lines().count("sm.other_master") != 0, true);
  EXPECT_EQ(one.last().decided.routes, nullptr);
}

TEST(Masters, ANewcomerNamesTheMasterAndWritesNothing) {
  sim::World world(test::spec("ft2:4"));
  Managed master(world, "h00000");
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(master->run());
  world.run_for(std::chrono::seconds(2));
  world.fabric().counts().clear();
  config::SubnetConfig high;
  high.sm.priority = 15;
  Managed newcomer(world, "h00003", high);
  group.spawn(newcomer->run());

  world.run_for(std::chrono::seconds(20));
  world.run(group.stop());

  EXPECT_EQ(world.fabric().counts().sets(), 0U);
  EXPECT_EQ(newcomer.lines().count("sm.other_master"), 1U) << testing::PrintToString(newcomer.lines().all);
  EXPECT_THAT(newcomer.lines().first("sm.other_master"), testing::HasSubstr("h00000"));
}

TEST(Masters, AStandbyTakesTheFabricWhenTheMasterIsGone) {
  sim::World world(test::spec("ft2:4"));
  auto master = std::make_unique<Managed>(world, "h00000");
  Managed standby(world, "h00003");
  mad::TaskGroup first(world.io().get_executor()), second(world.io().get_executor());
  first.spawn((*master)->run());
  world.run_for(std::chrono::seconds(2));
  second.spawn(standby->run());
  world.run_for(std::chrono::seconds(5));
  EXPECT_EQ(standby.last().summary.state, sm::SweepState::failed);

  world.run(first.stop());
  master.reset();
  world.run_for(std::chrono::seconds(20));
  world.run(second.stop());

  EXPECT_EQ(standby.last().state, SmState::master) << testing::PrintToString(standby.lines().all);
  EXPECT_EQ(standby.last().summary.state, sm::SweepState::up);
  EXPECT_EQ(standby.lines().count("sm.master_gone"), 1U);
}

/// A master on h00000 and a standby on h00003, both settled.
struct Pair {
  explicit Pair(sim::World& w, config::SubnetConfig config = {})
      : world(w), master(std::make_unique<Managed>(w, "h00000", config)), standby(w, "h00003", config) {
    first.spawn((*master)->run());
    world.run_for(std::chrono::seconds(2));
    second.spawn(standby->run());
    world.run_for(std::chrono::seconds(6));
    EXPECT_EQ(standby->published()->state, SmState::standby);
  }
  ~Pair() {
    world.run(first.stop());
    world.run(second.stop());
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  /// The process ends: its port stays up, and is no SM any more.
  void kill_master() {
    world.run(first.stop());
    master.reset();
  }
  bool standby_is_master() { return standby->published()->state == SmState::master; }

  sim::World& world;
  std::unique_ptr<Managed> master;
  Managed standby;
  mad::TaskGroup first{world.io().get_executor()}, second{world.io().get_executor()};
};

constexpr auto kTakeover = std::chrono::milliseconds(2500);

TEST(Masters, AMasterThatIsKilledIsReplacedInTime) {
  sim::World world(test::spec("ft2:4"));
  Pair pair(world);

  pair.kill_master();
  world.run_for(kTakeover);

  EXPECT_TRUE(pair.standby_is_master()) << testing::PrintToString(pair.standby.lines().all);
}

TEST(Masters, HowAStandbyPollsDoesNotHangOnTheRetriesOfOtherRequests) {
  sim::World world(test::spec("ft2:4"));
  config::SubnetConfig patient;
  patient.mad.timeout = std::chrono::seconds(1);
  patient.mad.retries = 20;
  Pair pair(world, patient);

  world.fabric().faults().link_down({"h00000", PortNum{1}});
  world.run_for(kTakeover);

  EXPECT_TRUE(pair.standby_is_master()) << testing::PrintToString(pair.standby.lines().all);
}

TEST(Masters, AMasterWhoseCableIsPulledIsReplacedInTime) {
  sim::World world(test::spec("ft2:4"));
  Pair pair(world);

  world.fabric().faults().link_down({"h00000", PortNum{1}});
  world.run_for(kTakeover);

  EXPECT_TRUE(pair.standby_is_master()) << testing::PrintToString(pair.standby.lines().all);
}

TEST(Masters, APollIsOneTryAndTheNextOneDoesNotWaitForIt) {
  sim::World world(test::spec("ft2:4"));
  config::SubnetConfig patient;
  patient.ha.poll = std::chrono::milliseconds(100);
  patient.ha.retries = 19;
  Pair pair(world, patient);
  const auto asked = [&] {
    return pair.standby->counters().total(&mad::AttributeCounters::sent, wire::Method::get);
  };
  pair.kill_master();
  const auto before = asked();

  world.run_for(std::chrono::milliseconds(950));

  EXPECT_FALSE(pair.standby_is_master()) << testing::PrintToString(pair.standby.lines().all);
  EXPECT_GE(asked() - before, 9U);
  EXPECT_LE(asked() - before, 10U);
}

TEST(Masters, AMasterThatAnswersLateIsNotReplaced) {
  sim::World world(test::spec("ft2:4"));
  Pair pair(world);

  world.fabric().faults().slow("h00000", std::chrono::milliseconds(400));
  world.run_for(std::chrono::seconds(20));

  EXPECT_FALSE(pair.standby_is_master());
  EXPECT_EQ(pair.standby.lines().count("sm.master_gone"), 0U)
      << testing::PrintToString(pair.standby.lines().all);
}

TEST(Masters, EndingAStandbyIsNotAMasterGone) {
  sim::World world(test::spec("ft2:4"));
  Managed master(world, "h00000"), standby(world, "h00003");
  test::run_for(world, {of(master), of(standby)}, std::chrono::milliseconds(5500));

  EXPECT_EQ(standby.lines().count("sm.master_gone") + master.lines().count("sm.master_gone"), 0U);
}

/// A Set of SMInfo from another port's SM, as bytes; whether it was answered well.
bool tell(test::Asker& asker, const mad::DirectedPath& way, wire::SmControl control, std::uint64_t sm_key,
          Guid from) {
  wire::SmInfo info;
  info.guid = from;
  info.sm_key = sm_key;
  info.priority = 14;
  info.state = SmState::master;
  return asker.set<wire::SmInfo>(way, info, static_cast<std::uint32_t>(control)).good();
}

TEST(Masters, AStrangerWithoutTheSmKeyCannotTellUsWhatToBe) {
  sim::World world(test::two_leaves());
  Managed master(world, "h0");
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(master->run());
  world.run_for(std::chrono::seconds(2));
  test::Asker stranger(world, {"h1", PortNum{1}});
  const auto way = test::path({1, 3, 1, 1});

  EXPECT_FALSE(tell(stranger, way, wire::SmControl::handover, 0, Guid{0x77}));
  EXPECT_FALSE(tell(stranger, way, wire::SmControl::handover, 99, Guid{0x77}));
  EXPECT_TRUE(tell(stranger, way, wire::SmControl::handover, config::SmConfig{}.sm_key, Guid{0x77}));
  world.run(group.stop());

  EXPECT_GE(master.lines().count("sm.control_refused"), 1U) << testing::PrintToString(master.lines().all);
  EXPECT_EQ(master.lines().count("sm.control control=HANDOVER"), 1U);
}

}  // namespace
}  // namespace smd
