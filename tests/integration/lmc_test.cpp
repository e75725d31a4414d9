// SPDX-License-Identifier: Apache-2.0
// The LMC of a fabric that another SM has set.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "tests/support/layered_fabric.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
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

/// Paths from switches to all LIDs of a host that end elsewhere, by the tables that switches hold.
std::size_t lost_paths(const sim::State& state) {
  std::size_t lost = 0;
  for (sim::PortIndex host = 0; host < state.ports.size(); ++host) {
    const auto& info = state.ports[host].info;
    if (state.nodes[state.ports[host].node].is_switch() || info.lid == Lid{}) continue;
    for (unsigned lid = info.lid.value(); lid < info.lid.value() + (1U << info.lmc); ++lid) {
      for (const auto& from : state.nodes) {
        const auto* at = &from;
        sim::PortIndex arrived = from.first_port;
        for (std::size_t hops = 0; at->is_switch() && hops < state.nodes.size(); ++hops) {
          const auto& lft = at->sw->lft;
          const bool within = lid < lft.size() && lid <= at->sw->info.linear_fdb_top;
          if (!within || lft[lid] > at->ports) break;
          arrived = state.port(*at, lft[lid]).peer;
          if (arrived == sim::kNowhere) break;
          at = &state.nodes[state.ports[arrived].node];
        }
        lost += from.is_switch() && arrived != host ? 1U : 0U;
      }
    }
  }
  return lost;
}

class RaisedLmc : public test::LayeredFabric, public testing::WithParamInterface<const char*> {
 protected:
  RaisedLmc() : LayeredFabric("random:20:5:1:3+guids=8") { config_.routing.engines = {GetParam()}; }
};

TEST_P(RaisedLmc, HasRoutesToAllLidsAfterAReload) {
  start();
  ASSERT_EQ(lost_paths(state()), 0U);
  for (const std::uint8_t lmc : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{0}}) {
    config_.lids.lmc = lmc;
    (*manager_)->requests().reload(config_);
    world_.run_for(20s);
    EXPECT_EQ(lmc_of_hosts(world_.fabric()), lmc);
    EXPECT_EQ(lost_paths(state()), 0U) << unsigned{lmc};
    EXPECT_TRUE(routes().verification.clean());
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, RaisedLmc, testing::Values("lash", "dfsssp", "nue", "updn", "auto"));

class RaisedLmcOfATorus : public test::LayeredFabric, public testing::WithParamInterface<std::uint8_t> {
 protected:
  RaisedLmcOfATorus() : LayeredFabric("torus:5x5:2+guids=1") {}
};

/// Other paths for the new LIDs do not fit into the layers: they take those of the LIDs before.
TEST_P(RaisedLmcOfATorus, ChangesNoSlByAReload) {
  begin();
  const auto first_layers = layers();
  config_.lids.lmc = GetParam();
  (*manager_)->requests().reload(config_);
  world_.run_for(60s);
  EXPECT_EQ(lmc_of_hosts(world_.fabric()), GetParam());
  EXPECT_EQ(layers(), first_layers);
  EXPECT_EQ(routes().pairs_moved, 0U);
  EXPECT_EQ(lost_paths(state()), 0U);
  EXPECT_TRUE(routes().verification.clean());
}

TEST_P(RaisedLmcOfATorus, ChangesNoSlByARestart) {
  begin();
  const auto first_layers = layers();
  end();
  config_.lids.lmc = GetParam();
  begin();
  world_.run_for(60s);
  EXPECT_EQ(layers(), first_layers);
  EXPECT_EQ(routes().pairs_moved, 0U);
  EXPECT_EQ(lost_paths(state()), 0U);
  EXPECT_TRUE(routes().verification.clean());
}

INSTANTIATE_TEST_SUITE_P(Lmcs, RaisedLmcOfATorus, testing::Values(std::uint8_t{1}, std::uint8_t{2}));

}  // namespace
}  // namespace smd
