// SPDX-License-Identifier: Apache-2.0
// By which ways a sweep of a part of the fabric asks adapters, where a link to them has gone that it does not
// know of when it begins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "mad/base/fabric_file.h"
#include "smd/sweep/heavy_sweep.h"
#include "smd/sweep/incremental_sweep.h"
#include "tests/support/dual_fabric.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Managed;

/// A fabric that was brought up, and what is known of it.
class IncrementalWays : public testing::Test {
 protected:
  void bring_up(const base::Fabric& fabric) {
    world_.emplace(fabric);
    Managed manager(*world_, {}, test::once());
    world_->run(manager->run());
    before_ = manager.last().subnet;
  }
  Guid guid(std::string_view name) const {
    return (*std::ranges::find(before_->nodes, name, &sm::Node::description))->guid();
  }
  /// What a sweep of these nodes finds.
  std::optional<sm::Subnet> look_at(std::set<Guid> suspects, sm::SweepOptions how = {}) {
    const auto transport = world_->transport();
    mad::Transactions tx(world_->io().get_executor(), world_->clock(), *transport, {}, 3);
    tx.begin_round();
    std::optional<sm::Subnet> found;
    const auto began = world_->clock().now();
    world_->run(look(&tx, &world_->clock(), before_, std::move(suspects), std::move(how), &found));
    took_ = world_->clock().now() - began;
    return found;
  }
  static asio::awaitable<void> look(mad::Transactions* tx, mad::Clock* clock,
                                    std::shared_ptr<const sm::Subnet> before, std::set<Guid> suspects,
                                    sm::SweepOptions how, std::optional<sm::Subnet>* found) {
    auto after = co_await sm::incremental_sweep(tx, clock, before.get(), std::move(suspects), std::move(how));
    EXPECT_TRUE(after) << after.error();
    if (after) *found = *std::move(after);
  }
  static std::string silent(const sm::Subnet& subnet) {
    std::string text;
    for (const auto& lost : subnet.unresponsive) text += lost.description + ": " + lost.reason + "\n";
    return text;
  }

  std::optional<sim::World> world_;
  std::shared_ptr<const sm::Subnet> before_;
  mad::Duration took_{};
};

/// A light sweep that asks switches by that link finds them silent, and what lies behind them.
TEST_F(IncrementalWays, AdaptersAreNotAskedByALinkThatASwitchHasLost) {
  bring_up(test::spec("ft2:6"));
  world_->fabric().faults().link_down({"leaf000", PortNum{4}});
  std::set<Guid> all;
  for (const auto& node : before_->nodes) all.insert(node->guid());

  const auto found = look_at(all);

  ASSERT_TRUE(found);
  EXPECT_EQ(found->nodes.size(), before_->nodes.size());
  EXPECT_EQ(silent(*found), "");
  EXPECT_LT(took_, 500ms) << "no time-out is waited for";
}

/// The order to disable one of its ports makes both its ends suspects.
TEST_F(IncrementalWays, AHostIsAskedByItsOtherPort) {
  bring_up(*base::read_fabric(test::kDualFabric, "dual.net"));
  world_->fabric().faults().link_down({"leafA", PortNum{2}});

  const auto found = look_at({guid("leafA"), guid("d1")});

  ASSERT_TRUE(found);
  EXPECT_EQ(silent(*found), "");
  const auto* host = found->find(guid("d1"));
  ASSERT_NE(host, nullptr);
  EXPECT_FALSE(host->ports[1].known);
  EXPECT_TRUE(host->ports[2].linked());
  EXPECT_LT(took_, 500ms);
}

/// Then adapters are asked before it has answered.
TEST_F(IncrementalWays, WhatIsSilentBecauseOfALinkThatIsFoundDownLaterIsAskedAgain) {
  bring_up(*base::read_fabric(test::kDualFabric, "dual.net"));
  world_->fabric().faults().link_down({"leafA", PortNum{2}});
  world_->fabric().faults().slow("leafA", 20ms);
  sm::SweepOptions how;
  how.patience = 1ms;

  const auto found = look_at({guid("leafA"), guid("d1")}, how);

  ASSERT_TRUE(found);
  EXPECT_EQ(silent(*found), "");
  const auto* host = found->find(guid("d1"));
  ASSERT_NE(host, nullptr);
  EXPECT_FALSE(host->ports[1].known);
  EXPECT_TRUE(host->ports[2].linked());
}

TEST_F(IncrementalWays, AHostThatDoesNotAnswerIsReported) {
  bring_up(*base::read_fabric(test::kDualFabric, "dual.net"));
  world_->fabric().faults().link_down({"leafA", PortNum{2}});
  world_->fabric().faults().silent("d1");

  const auto found = look_at({guid("leafA"), guid("d1")});

  ASSERT_TRUE(found);
  EXPECT_NE(silent(*found), "");
}

}  // namespace
}  // namespace smd
