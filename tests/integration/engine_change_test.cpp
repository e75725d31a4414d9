// SPDX-License-Identifier: Apache-2.0
// Another engine in [routing] while hosts have connections: their SLs are those of the tables before.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

#include "tests/support/kept_manager.h"

namespace smd {
namespace {

using namespace std::chrono_literals;

class EngineChange : public ::testing::Test, protected test::KeptManager {
 protected:
  explicit EngineChange(const std::string& spec = "torus:4x4+guids=7") : KeptManager(test::spec(spec)) {
    config_.routing.path_sl = config::PathSl::asked;
  }
  void begin(const std::string& engine) {
    config_.routing.engines = {engine};
    KeptManager::begin();
  }
  void restart(const std::string& engine) {
    stop();
    begin(engine);
  }
  void reload(const std::string& engine) {
    config_.routing.engines = {engine};
    (*manager_)->requests().reload(config_);
    world_.run_for(5s);
  }
  /// A cable between two switches.
  sim::Place any_cable() {
    const auto& topology = *routes().topology;
    unsigned port = 1;
    while (topology.peer(0, PortNum{static_cast<std::uint8_t>(port)}).sw == routing::kNoSwitch) ++port;
    const auto* node = (*manager_)->published()->subnet->find(topology.guid(0));
    return {node->description, PortNum{static_cast<std::uint8_t>(port)}};
  }
  void resweep(sm::Resweep kind) {
    (*manager_)->requests().resweep(kind, "test");
    world_.run_for(20s);
  }
};

TEST_F(EngineChange, WaitsAtAReloadWhereItWouldChangeSls) {
  begin("lash");
  const auto before = routes().layers;
  ASSERT_GT(before.count, 1U);

  reload("dfsssp");

  EXPECT_EQ(routes().engine, "lash");
  EXPECT_EQ(routes().engine_waits, "dfsssp");
  EXPECT_EQ(routes().layers, before);
  EXPECT_EQ(routes().pairs_moved, 0U);
  EXPECT_THAT(manager_->lines().first("routing.engine_waits"),
              testing::AllOf(testing::HasSubstr("engine=lash configured=dfsssp"),
                             testing::HasSubstr("smd resweep converge --engine")));
}

TEST_F(EngineChange, WaitsOverARestart) {
  begin("lash");
  const auto before = routes().layers;

  restart("dfsssp");
  EXPECT_EQ(routes().layers, before);
  EXPECT_EQ(routes().engine_waits, "dfsssp");
  restart("dfsssp");

  EXPECT_EQ(routes().layers, before);
  EXPECT_EQ(routes().engine_waits, "dfsssp");
}

TEST_F(EngineChange, StaysThroughConvergence) {
  begin("lash");
  reload("dfsssp");

  resweep(sm::Resweep::converge);

  EXPECT_EQ(routes().engine, "lash");
  EXPECT_EQ(routes().engine_waits, "dfsssp");
}

TEST_F(EngineChange, StaysThroughOtherChanges) {
  begin("lash");
  reload("dfsssp");
  const auto before = routes().layers;
  config_.routing.allow_credit_loops = true;

  reload("dfsssp");

  EXPECT_EQ(routes().engine, "lash");
  EXPECT_EQ(routes().engine_waits, "dfsssp");
  EXPECT_EQ(routes().layers, before);
}

TEST_F(EngineChange, ComesWhenTheOperatorSaysSo) {
  begin("lash");
  reload("dfsssp");

  resweep(sm::Resweep::converge_engine);

  EXPECT_EQ(routes().engine, "dfsssp");
  EXPECT_EQ(routes().engine_waits, "");
  EXPECT_TRUE(routes().verification.clean());
  EXPECT_EQ(routes().pairs_moved, 0U);
}

TEST_F(EngineChange, IsForgottenWithTheConfigurationBefore) {
  begin("lash");
  reload("dfsssp");

  reload("lash");

  EXPECT_EQ(routes().engine, "lash");
  EXPECT_EQ(routes().engine_waits, "");
}

TEST_F(EngineChange, WaitsWhereAllPathsHadOneSl) {
  begin("updn");

  reload("lash");

  EXPECT_EQ(routes().engine, "updn");
  EXPECT_EQ(routes().layers.count, 1U);
  EXPECT_EQ(routes().engine_waits, "lash");
}

/// The same over restarts, also where clients begin to use the SLs of paths by one.
TEST_F(EngineChange, OfOneLayerWaitsOverRestarts) {
  config_.routing.path_sl = config::PathSl::fixed;
  begin("nue");
  ASSERT_EQ(routes().layers.count, 1U);
  config_.routing.path_sl = config::PathSl::asked;

  for (const auto* engine : {"dfsssp", "lash", "lash"}) {
    restart(engine);
    EXPECT_EQ(routes().engine, "nue");
    EXPECT_EQ(routes().layers.count, 1U);
    EXPECT_EQ(routes().engine_waits, engine);
  }
  world_.fabric().faults().link_down(any_cable());
  world_.run_for(10s);
  EXPECT_EQ(routes().engine, "nue");
  EXPECT_EQ(routes().layers.count, 1U);
  EXPECT_EQ(manager_->lines().count("routing.sl_stale"), 0U);
}

/// Not first kept, as the log would say, and replaced by the next decision.
TEST_F(EngineChange, LayeredTablesOfBeforeAreReplacedAtOnceWhereClientsUseOneSl) {
  begin("lash");
  ASSERT_GT(routes().layers.count, 1U);
  stop();
  config_.routing.path_sl = config::PathSl::fixed;

  begin("updn");

  EXPECT_EQ(routes().engine, "updn");
  EXPECT_THAT(routes().not_repaired, testing::HasSubstr("they have several layers"));
  EXPECT_EQ(manager_->lines().count("routing.adopted"), 0U);
}

// Tables of one layer are free of credit loops on each VL, so that connections may keep their SLs.
TEST_F(EngineChange, ToOneLayerNeedsNoWord) {
  begin("lash");

  reload("updn");

  EXPECT_EQ(routes().engine, "updn");
  EXPECT_EQ(routes().layers.count, 1U);
  EXPECT_EQ(routes().pairs_moved, 0U);
  EXPECT_THAT(
      manager_->lines().first("routing.engine_changed"),
      testing::AllOf(testing::HasSubstr("from=lash to=updn"), testing::Not(testing::HasSubstr("action="))));
}

/// Paths have one SL since then, and clients use it.
TEST_F(EngineChange, ToOneLayerBringsNoLayersBackAtARestart) {
  begin("lash");
  reload("updn");
  ASSERT_EQ(routes().layers.count, 1U);

  restart("updn");

  EXPECT_EQ(routes().engine, "updn");
  EXPECT_EQ(routes().layers.count, 1U);
  world_.fabric().faults().link_down(any_cable());
  world_.run_for(60s);
  EXPECT_EQ(routes().layers.count, 1U);
}

/// A switch comes back with fewer VLs than the layers need.
TEST_F(EngineChange, ThatLosesLayersInUseIsWarnedOfWithItsCause) {
  begin("lash");
  const auto layers = routes().layers.count;
  ASSERT_GT(layers, 1U);
  const auto guid = routes().topology->guid(0);
  const auto name = (*manager_)->published()->subnet->find(guid)->description;
  auto faults = world_.fabric().faults();
  ASSERT_TRUE(faults.remove(name));
  world_.run_for(10s);
  ASSERT_EQ(routes().engine, "lash");
  ASSERT_TRUE(faults.vl_cap(name, 1));
  std::string reason;  // repairs follow where its links come up one by one
  manager_->on_sweep([&](const sm::Snapshot& now) {
    for (const auto& refusal : now.decided.routes->fell_back_from) reason = refusal.reason;
  });

  ASSERT_TRUE(faults.restore(name));
  world_.run_for(20s);

  ASSERT_EQ(routes().engine, "updn");
  const auto line = manager_->lines().first("routing.engine_changed");
  EXPECT_THAT(line, testing::HasSubstr("from=lash to=updn"));
  EXPECT_THAT(line, testing::HasSubstr("and may use 1"));
  EXPECT_THAT(line, testing::HasSubstr(fmt::format("({} {} port ", guid, name)));
  EXPECT_THAT(line, testing::HasSubstr("has 1 data VL)"));
  EXPECT_THAT(line, testing::HasSubstr(fmt::format("its tables had {} layers", layers)));
  EXPECT_THAT(line, testing::HasSubstr("smd resweep converge --engine"));
  EXPECT_THAT(reason, testing::HasSubstr("has 1 data VL"));
}

/// What connects while there are too few VLs goes on when they are back.
TEST_F(EngineChange, ForWantOfVlsKeepsSls) {
  begin("lash");
  const auto first = routes().layers.by_pair;
  const auto guid = routes().topology->guid(0);
  const auto name = (*manager_)->published()->subnet->find(guid)->description;
  auto faults = world_.fabric().faults();
  ASSERT_TRUE(faults.remove(name));
  world_.run_for(10s);
  ASSERT_TRUE(faults.vl_cap(name, 1));
  ASSERT_TRUE(faults.restore(name));
  world_.run_for(20s);

  ASSERT_EQ(routes().engine, "updn");
  EXPECT_EQ(routes().layers.by_pair, first);
  EXPECT_EQ(routes().layers.vl_indexes(), 1U);
  EXPECT_TRUE(routes().verification.clean());
  EXPECT_TRUE(routes().verification.fixed_sl_ok);
  EXPECT_EQ(routes().pairs_moved, 0U);

  faults.link_down(any_cable());
  world_.run_for(5s);
  EXPECT_EQ(routes().engine, "updn");
  EXPECT_EQ(routes().layers.by_pair, first);
  EXPECT_TRUE(routes().verification.clean());
}

TEST_F(EngineChange, OfVlsByPortWaitsToo) {
  begin("torus-2QoS");
  const auto before = routes().layers;

  restart("lash");
  EXPECT_EQ(routes().engine, "torus-2QoS");
  reload("dfsssp");

  EXPECT_EQ(routes().engine, "torus-2QoS");
  EXPECT_EQ(routes().layers, before);
  EXPECT_EQ(routes().engine_waits, "dfsssp");
}

/// `why` says how the fabric is now, whatever tables stay.
TEST_F(EngineChange, WhatIsMissingIsSaidAsLongAsItIs) {
  begin("auto");
  ASSERT_THAT(routes().why, testing::StartsWith("hypercube of 4"));
  const auto cable = any_cable();

  world_.fabric().faults().link_down(cable);
  world_.run_for(10s);
  EXPECT_THAT(routes().why, testing::StartsWith("damaged hypercube of 4"));
  EXPECT_EQ(routes().shape.substr(0, 8), "damaged ");
  world_.fabric().faults().link_up(cable);
  world_.run_for(20s);

  EXPECT_THAT(routes().why, testing::StartsWith("hypercube of 4"));
}

class EngineChangeWithoutShape : public EngineChange {
 protected:
  EngineChangeWithoutShape() : EngineChange("random:20:5:1:3+guids=8") {}
};

/// The same before and after a restart.
TEST_F(EngineChangeWithoutShape, WhatIsMissingIsSaidOverRestarts) {
  begin("auto");
  ASSERT_EQ(routes().shape, "irregular fabric");

  world_.fabric().faults().link_down(any_cable());
  world_.run_for(10s);
  EXPECT_EQ(routes().shape, "damaged irregular fabric");
  EXPECT_THAT(routes().why, testing::StartsWith("damaged irregular fabric: "));
  restart("auto");

  EXPECT_EQ(routes().shape, "damaged irregular fabric");
  EXPECT_THAT(routes().why, testing::StartsWith("damaged irregular fabric: "));
}

}  // namespace
}  // namespace smd
