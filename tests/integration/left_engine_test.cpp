// SPDX-License-Identifier: Apache-2.0
// "auto" where its engine cannot route what is left of the fabric: what clients have stays, and the engine
// comes back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "smd/decide/routes.h"
#include "tests/support/layered_fabric.h"

namespace smd {
namespace {

using namespace std::chrono_literals;

class LeftEngine : public test::LayeredFabric {
 protected:
  LeftEngine() : LayeredFabric("mesh:4x5:1+guids=33") { config_.routing.engines = {"auto"}; }
  void break_dimension_order() {
    world_.fabric().faults().link_down({"m03-03", PortNum{4}});
    world_.run_for(10s);
    world_.fabric().faults().remove("m01-02");
    world_.run_for(10s);
  }
  void mend() {
    world_.fabric().faults().restore("m01-02");
    world_.fabric().faults().link_up({"m03-03", PortNum{4}});
    world_.run_for(120s);
  }
};

TEST_F(LeftEngine, IsLeftForOneThatKeepsAllSls) {
  start();
  ASSERT_EQ(routes().engine, "dor");
  break_dimension_order();
  EXPECT_NE(routes().engine, "dor");
  EXPECT_EQ(routes().layers.count, 1U);
  EXPECT_EQ(routes().pairs_moved, 0U);
  EXPECT_TRUE(routes().verification.clean());
}

TEST_F(LeftEngine, ComesBackWithItsTables) {
  start();
  const auto first = tables();
  break_dimension_order();
  ASSERT_NE(routes().engine, "dor");
  mend();
  EXPECT_EQ(routes().engine, "dor");
  EXPECT_EQ(tables(), first);
  EXPECT_EQ(routes().pairs_moved, 0U);
}

TEST_F(LeftEngine, ComesBackWhileAHostIsOff) {
  start();
  break_dimension_order();
  world_.fabric().faults().remove("hm00-03-00");
  world_.run_for(10s);
  ASSERT_NE(routes().engine, "dor");
  mend();
  EXPECT_EQ(routes().engine, "dor");
}

TEST_F(LeftEngine, StaysLeftWhereFreshTablesAreAskedForMeanwhile) {
  start();
  const auto first = tables();
  break_dimension_order();
  (*manager_)->requests().resweep(sm::Resweep::converge, "test");
  world_.run_for(60s);
  ASSERT_NE(routes().engine, "dor");
  mend();
  EXPECT_EQ(routes().engine, "dor");
  EXPECT_EQ(tables(), first);
}

TEST_F(LeftEngine, ComesBackAfterARestart) {
  start();
  const auto first = tables();
  break_dimension_order();
  end();
  start();
  ASSERT_NE(routes().engine, "dor");
  EXPECT_EQ(manager_->last().stored->left_engine.name, "dor");
  mend();
  EXPECT_EQ(routes().engine, "dor");
  EXPECT_EQ(tables(), first);
  EXPECT_EQ(routes().pairs_moved, 0U);
  EXPECT_EQ(manager_->last().stored->left_engine.name, "");
}

TEST_F(LeftEngine, ComesBackWhereTheFabricBreaksWhileTheManagerIsAway) {
  start();
  const auto first = tables();
  end();
  break_dimension_order();
  start();
  ASSERT_NE(routes().engine, "dor");
  EXPECT_EQ(manager_->last().stored->left_engine.name, "dor");
  mend();
  EXPECT_EQ(routes().engine, "dor");
  EXPECT_EQ(tables(), first);
  EXPECT_EQ(routes().pairs_moved, 0U);
}

TEST_F(LeftEngine, ComesBackWhereTheFabricIsMendedWhileTheManagerIsAway) {
  start();
  const auto first = tables();
  break_dimension_order();
  end();
  mend();
  start();
  world_.run_for(120s);
  EXPECT_EQ(routes().engine, "dor");
  EXPECT_EQ(tables(), first);
}

TEST_F(LeftEngine, WhatIsAcceptedAsLostIsNotMissing) {
  start();
  break_dimension_order();
  ASSERT_TRUE(sm::lacks_any(routes()));
  (*manager_)->requests().accept_lost(Guid{});
  world_.run_for(10s);
  EXPECT_FALSE(sm::lacks_any(routes()));
  (*manager_)->requests().resweep(sm::Resweep::heavy, "test");
  world_.run_for(10s);
  EXPECT_FALSE(sm::lacks_any(routes()));
  end();
  start();
  EXPECT_FALSE(sm::lacks_any(routes()));
}

TEST_F(LeftEngine, AReloadOfAnotherKeyKeepsAllSls) {
  start();
  break_dimension_order();
  config_.routing.allow_credit_loops = true;
  (*manager_)->requests().reload(config_);
  world_.run_for(20s);
  EXPECT_EQ(routes().layers.count, 1U);
  EXPECT_EQ(routes().pairs_moved, 0U);
}

}  // namespace
}  // namespace smd
