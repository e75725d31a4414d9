// SPDX-License-Identifier: Apache-2.0
// The LMC of a fabric that another SM has set.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "tests/support/managed_world.h"

namespace smd {
namespace {

using test::Managed;
using testing::HasSubstr;

config::SubnetConfig with_lmc(std::optional<std::uint8_t> lmc) {
  config::SubnetConfig config;
  if (lmc) config.lids.lmc = *lmc;
  return config;
}

/// What every host holds, or nothing where they differ.
std::optional<std::uint8_t> lmc_of_hosts(const sim::Fabric& fabric) {
  std::optional<std::uint8_t> all;
  for (const auto& node : fabric.state().nodes) {
    if (node.is_switch()) continue;
    const auto info = fabric.port_info({node.name, PortNum{1}});
    if (all && info->lmc != *all) return std::nullopt;
    all = info->lmc;
  }
  return all;
}

class Lmc : public testing::Test {
 protected:
  Lmc() : world_(test::spec("ft2:8")) {}
  void bring_up(std::optional<std::uint8_t> lmc) {
    Managed before(world_, with_lmc(lmc), test::once());
    world_.run(before->run());
    EXPECT_EQ(before.last().summary.state, sm::SweepState::up);
  }
  void hold_lmc(const char* host, std::uint8_t lmc) {
    const auto lid = world_.fabric().port_info({host, PortNum{1}})->lid;
    EXPECT_TRUE(world_.fabric().faults().set_lid({host, PortNum{1}}, lid, lmc));
  }
  sim::World world_;
};

TEST_F(Lmc, StaysWhereTheFileSaysNothing) {
  bring_up(1);
  ASSERT_EQ(lmc_of_hosts(world_.fabric()), 1);
  Managed manager(world_, with_lmc(std::nullopt));
  mad::TaskGroup group(world_.io().get_executor());
  group.spawn(manager->run());
  world_.run_for(std::chrono::seconds(2));

  EXPECT_EQ(lmc_of_hosts(world_.fabric()), 1);
  EXPECT_EQ(manager.last().summary.lids_changed, 0U);
  EXPECT_EQ(manager.lines().count("lid.lmc_adopted"), 1U);
  EXPECT_THAT(manager.lines().first("lid.lmc_adopted"), HasSubstr(" lmc=1 "));

  // A host that reboots gets what the others have.
  world_.fabric().faults().reboot("h00009");
  world_.run_for(std::chrono::seconds(15));
  EXPECT_EQ(lmc_of_hosts(world_.fabric()), 1);
  world_.run(group.stop());
}

TEST_F(Lmc, OfTheFileWinsAndSaysHowManyLidsAreLost) {
  bring_up(2);
  Managed manager(world_, with_lmc(std::uint8_t{1}), test::once());

  world_.run(manager->run());

  EXPECT_EQ(lmc_of_hosts(world_.fabric()), 1);
  EXPECT_EQ(manager.lines().count("lid.lmc_lowered"), 1U);
  EXPECT_THAT(manager.lines().first("lid.lmc_lowered"), HasSubstr("lids_lost=64"));
  EXPECT_THAT(manager.lines().first("lid.lmc_lowered"), HasSubstr("ports=32"));
}

TEST_F(Lmc, OfTheFileThatIsThereAlreadyIsNotNamed) {
  bring_up(1);
  Managed manager(world_, with_lmc(std::uint8_t{1}), test::once());

  world_.run(manager->run());

  EXPECT_EQ(manager.lines().count("lid.lmc"), 0U);
}

TEST_F(Lmc, IsTheHighestWherePortsDiffer) {
  bring_up(2);
  for (const auto* host : {"h00003", "h00010", "h00020"}) {
    hold_lmc(host, 1);
  }
  Managed manager(world_, with_lmc(std::nullopt), test::once());

  world_.run(manager->run());

  EXPECT_EQ(lmc_of_hosts(world_.fabric()), 2);
  EXPECT_THAT(manager.lines().first("lid.lmc_adopted"), HasSubstr("ports=\"29 with 2, 3 with 1\""));
}

TEST_F(Lmc, OfOneBadPortDoesNotTakeTheLidsOfAllOthers) {
  bring_up(0);
  config::SubnetConfig config;
  config.lids.last = Lid{200};
  hold_lmc("h00003", 7);
  Managed manager(world_, config, test::once());

  world_.run(manager->run());

  EXPECT_EQ(manager.last().summary.state, sm::SweepState::up);
  EXPECT_LE(*lmc_of_hosts(world_.fabric()), 2);
}

}  // namespace
}  // namespace smd
