// SPDX-License-Identifier: Apache-2.0
// The engine of installed tables over a restart.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/kept_manager.h"

namespace smd {
namespace {

using namespace std::chrono_literals;

/// A mesh without some of its cables: `nue` has less load there than `dor`, which is the engine for all of
/// it.
class StoredEngine : public ::testing::Test, protected test::KeptManager {
 protected:
  StoredEngine() : KeptManager(test::spec("mesh:4x4:2+guids=5")) {
    const auto whole = test::spec("mesh:4x4:2+guids=5"), cut = test::spec("mesh:4x4:2+guids=5+cut=10:3");
    for (std::size_t n = 0; n < whole.nodes.size(); ++n) {
      for (std::uint8_t p = 1; p <= whole.nodes[n].port_count(); ++p) {
        if (whole.nodes[n].ports[p].peer && !cut.nodes[n].ports[p].peer)
          missing_.push_back({whole.nodes[n].name, PortNum{p}});
      }
    }
  }
  void begin_damaged_and_mend() {
    for (const auto& place : missing_) world_.fabric().faults().link_down(place);
    begin();
    for (const auto& place : missing_) world_.fabric().faults().link_up(place);
    world_.run_for(10s);
  }
  /// Of the tables, or of those that would take their place.
  std::string engine() {
    return routes().origin == sm::RoutePart::Origin::adopted ? routes().would_be : routes().engine;
  }

  std::vector<sim::Place> missing_;
};

TEST_F(StoredEngine, StaysOverARestart) {
  begin_damaged_and_mend();
  ASSERT_EQ(engine(), "nue") << routes().why;

  restart();

  EXPECT_EQ(engine(), "nue") << routes().why;
  EXPECT_EQ(manager_->last().stored->engine.name, "nue");
  EXPECT_TRUE(routes().verification.clean());
}

TEST_F(StoredEngine, StaysThroughAReloadOfAnotherKey) {
  begin_damaged_and_mend();
  ASSERT_EQ(engine(), "nue") << routes().why;
  config_.routing.allow_credit_loops = true;
  (*manager_)->requests().reload(config_);
  world_.run_for(10s);
  EXPECT_EQ(engine(), "nue") << routes().why;
}

TEST_F(StoredEngine, IsChosenAnewByOtherRules) {
  begin_damaged_and_mend();
  config_.routing.engines = {"dor", "updn"};

  restart();

  EXPECT_EQ(engine(), "dor");
}

TEST_F(StoredEngine, IsChosenAnewWhereNoEndPortIsActive) {
  begin_damaged_and_mend();
  stop();
  for (const auto& node : world_.fabric().state().nodes) world_.fabric().faults().reboot(node.name);
  world_.run_for(10s);

  begin();

  EXPECT_EQ(engine(), "dor") << routes().why;
  EXPECT_EQ(manager_->last().stored->engine.name, "dor");
}

}  // namespace
}  // namespace smd
