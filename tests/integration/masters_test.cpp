// SPDX-License-Identifier: Apache-2.0
// Never two masters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
