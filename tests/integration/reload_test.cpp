// SPDX-License-Identifier: Apache-2.0
// A new configuration, while the manager runs and while it waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/managed_world.h"
#include "tests/support/partition_config.h"

namespace smd {
namespace {

using test::Managed;

TEST(Reload, IsInForceWithTheSweepThatItAsksFor) {
  sim::World world(test::spec("ft2:8"));
  Managed manager(world);
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(manager->run());
  world.run_for(std::chrono::seconds(2));
  ASSERT_EQ(manager.last().summary.lids, 44U);

  config::SubnetConfig config;
  config.lids.lmc = 1;
  config.mad.max_outstanding = 8;
  config.mad.per_node = 1;
  manager->requests().reload(config);
  world.run_for(std::chrono::seconds(2));
  world.run(group.stop());

  EXPECT_EQ(manager.last().summary.reason, "reload");
  EXPECT_EQ(manager.last().summary.lids, 12U + 2U * 32U);
  EXPECT_EQ(manager.last().summary.state, sm::SweepState::up);
}

/// A file was wrong; corrected it changes a partition. The fabric need not be read again for that.
TEST(Reload, OfPartitionsAfterARefusedFileIsNoHeavySweep) {
  sim::World world(test::spec("ft2:8"));
  Managed manager(world);
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(manager->run());
  world.run_for(std::chrono::seconds(2));
  config::SubnetConfig config;
  config.partitions.refused = "smd.toml:3: wrong";
  manager->requests().reload(config);
  world.run_for(std::chrono::seconds(2));
  EXPECT_EQ(manager.last().summary.state, sm::SweepState::degraded);

  config.partitions.refused.clear();
  config.partition = {test::partition("blue", 0x20, {"h00001"})};
  manager->requests().reload(config);
  world.run_for(std::chrono::seconds(2));
  world.run(group.stop());
  EXPECT_EQ(manager.last().summary.state, sm::SweepState::up);
  EXPECT_NE(manager.last().decided.partitions->policy->find(PKey{0x20}), nullptr);
  EXPECT_EQ(manager.last().summary.reason, "start");
}

/// What runs refers to the configuration that it began with.
TEST(Reload, InTheMidstOfASweepWaitsForTheNext) {
  sim::World world(test::spec("ft2:8"));
  Managed manager(world);
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(manager->run());
  for (int i = 0; i < 50; ++i) {
    world.run_for(std::chrono::microseconds(100));
    config::SubnetConfig config;
    config.lids.lmc = static_cast<std::uint8_t>(i % 2);
    manager->requests().reload(config);
  }
  world.run_for(std::chrono::seconds(5));
  world.run(group.stop());

  EXPECT_EQ(manager.last().summary.lids, 12U + 2U * 32U);
  EXPECT_EQ(manager.last().summary.state, sm::SweepState::up);
}

TEST(CutOff, OurOwnCablePulledIsNotUp) {
  sim::World world(test::spec("ft2:4"));
  config::SubnetConfig config;
  config.sweep.interval = std::chrono::seconds(1);
  Managed manager(world, config);
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(manager->run());
  world.run_for(std::chrono::seconds(2));
  ASSERT_EQ(manager.last().summary.state, sm::SweepState::up);

  world.fabric().faults().link_down({"h00000", PortNum{1}});
  world.run_for(std::chrono::seconds(3));
  EXPECT_EQ(manager.last().summary.state, sm::SweepState::degraded);
  EXPECT_EQ(manager.last().summary.cas, 1U);

  world.fabric().faults().link_up({"h00000", PortNum{1}});
  world.run_for(std::chrono::seconds(3));
  world.run(group.stop());
  EXPECT_EQ(manager.last().summary.state, sm::SweepState::up);
}

}  // namespace
}  // namespace smd
