// SPDX-License-Identifier: Apache-2.0
// Links that must come up anew, on hardware that trains for seconds: in steps, with a way round each of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "mad/sim/packets/reach.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Managed;

sim::Options training(mad::Duration shortest, mad::Duration longest) {
  auto options = sim::World::default_options();
  options.training = {.shortest = shortest, .longest = longest};
  options.waits_for_training = false;  // what happens meanwhile is looked at
  return options;
}

config::SubnetConfig at_most(LinkSpeed speed) {
  config::SubnetConfig config;
  config.links.speed = speed;
  return config;
}

std::size_t steps(const test::Lines& lines) {
  return static_cast<std::size_t>(std::ranges::count_if(lines.all, [](const std::string& line) {
    return line.find("links.retrain ") != std::string::npos && line.find(" left=") != std::string::npos;
  }));
}

/// Links of a switch that are down now, to switches and to others, and those to switches that are up.
struct Down {
  unsigned switches = 0, hosts = 0, up = 0;
};

Down down_at(const sim::State& state, const sim::Node& node) {
  Down found;
  for (unsigned number = 1; number <= node.ports; ++number) {
    const auto& port = state.port(node, number);
    if (port.peer == sim::kNowhere) continue;
    const bool to_switch = state.node_of(port.peer).is_switch();
    if (port.link_up()) found.up += to_switch ? 1U : 0U;
    if (!port.link_up()) ++(to_switch ? found.switches : found.hosts);
  }
  return found;
}

/// ft2:8 in operation.
class RetrainingTest : public testing::Test {
 protected:
  void start(const sim::Options& options, config::SubnetConfig config = {}) {
    world_.emplace(test::spec("ft2:8"), options);
    group_.emplace(world_->io().get_executor());
    smd_.emplace(*world_, std::move(config));
    group_->spawn((*smd_)->run());
    world_->run_for(2s);
  }
  void TearDown() override {
    if (group_) world_->run(group_->stop());
  }
  const sim::State& state() { return world_->fabric().state(); }

  /// The most that a switch has had down at a time, looked at every 100 ms; and the fewest links to switches
  /// up.
  Down watch(mad::Duration time) {
    Down worst{.up = 1000};
    for (const auto end = world_->now() + time; world_->now() < end; world_->run_for(100ms)) {
      for (const auto& node : state().nodes) {
        if (!node.is_switch()) continue;
        const auto now = down_at(state(), node);
        worst.switches = std::max(worst.switches, now.switches);
        worst.hosts = std::max(worst.hosts, now.hosts);
        worst.up = std::min(worst.up, now.up);
      }
      joined_ = joined_ && all_that_are_up_reach();
    }
    return worst;
  }
  /// Of hosts whose links are Active. A step interrupts routes until the next sweep leads them round.
  bool all_that_are_up_reach() {
    std::vector<sim::PortIndex> ends;
    for (sim::PortIndex port = 0; port < state().ports.size(); ++port) {
      const bool active = state().ports[port].info.port_state == PortState::active;
      if (!state().node_of(port).is_switch() && active) ends.push_back(port);
    }
    const auto found = sim::reach(state(), ends, 1);
    lost_for_ = found.delivered == found.pairs ? 0ms : lost_for_ + 100ms;
    return lost_for_ <= 300ms;
  }
  std::size_t links_faster_than(LinkSpeed speed) {
    return static_cast<std::size_t>(std::ranges::count_if(
        state().ports, [&](const sim::Port& port) { return port.link_up() && port.speed > speed; }));
  }
  std::size_t links_down() {
    return static_cast<std::size_t>(std::ranges::count_if(
               state().ports,
               [](const sim::Port& port) { return port.peer != sim::kNowhere && !port.link_up(); })) /
           2;
  }
  bool all_active() {
    return std::ranges::all_of(state().ports, [](const sim::Port& port) {
      return port.peer == sim::kNowhere || port.info.port_state == PortState::active;
    });
  }

  std::optional<sim::World> world_;
  std::optional<mad::TaskGroup> group_;
  std::optional<Managed> smd_;
  bool joined_ = true;
  mad::Duration lost_for_{};
};

TEST_F(RetrainingTest, NoSwitchLosesMoreThanOneLinkToASwitchAndAQuarterOfItsHosts) {
  start(training(5s, 30s));
  ASSERT_GT(links_faster_than(LinkSpeed::qdr), 0U);

  (*smd_)->requests().reload(at_most(LinkSpeed::qdr));
  const auto worst = watch(20min);

  EXPECT_EQ(worst.switches, 1U);
  EXPECT_EQ(worst.hosts, 1U);
  EXPECT_GE(worst.up, 3U);
  EXPECT_TRUE(joined_);
  EXPECT_EQ(links_faster_than(LinkSpeed::qdr), 0U);
  EXPECT_TRUE(all_active()) << testing::PrintToString(smd_->lines().all);
  EXPECT_EQ(smd_->last().summary.state, sm::SweepState::up);
  EXPECT_EQ(smd_->lines().count("links.retrain_stopped"), 0U);
}

TEST_F(RetrainingTest, AStepEndsWhenItsLinksAreInInitAgain) {
  start(training(10s, 10s));

  (*smd_)->requests().reload(at_most(LinkSpeed::qdr));
  world_->run_for(60s);

  // Five steps of 10 s and the looks between them.
  EXPECT_GE(steps(smd_->lines()), 5U);
  EXPECT_LE(steps(smd_->lines()), 6U);
}

TEST_F(RetrainingTest, ThatIsToldBeforeTheStartIsDoneBehindTheBringUp) {
  start(training(5s, 5s), at_most(LinkSpeed::qdr));
  EXPECT_TRUE(joined_);
  watch(5min);

  EXPECT_EQ(links_faster_than(LinkSpeed::qdr), 0U);
  EXPECT_TRUE(all_active());
}

TEST_F(RetrainingTest, ALinkThatStaysDownEndsIt) {
  start(training(2s, 2s));
  bool cut = false;
  world_->fabric().watch_sets([&](const sim::DoneSet& set) {
    const auto& node = state().node_of(set.at);
    if (cut || set.attribute != wire::PortInfo::kAttribute || !node.is_switch()) return;
    const auto number = PortNum{static_cast<std::uint8_t>(set.modifier & 0xFFU)};
    if (number == PortNum{0} || state().port(node, number.value()).link_up()) return;
    cut = true;
    world_->at(world_->now() + 1s,
               [name = node.name, number](sim::Fabric& now) { now.faults().link_down({name, number}); });
  });

  (*smd_)->requests().reload(at_most(LinkSpeed::qdr));
  world_->run_for(59s);
  EXPECT_EQ(smd_->lines().count("links.retrain_stopped"), 0U);
  world_->run_for(5min);
  world_->fabric().watch_sets(nullptr);

  EXPECT_TRUE(cut);
  EXPECT_EQ(links_down(), 1U);
  EXPECT_EQ(steps(smd_->lines()), 1U);
  EXPECT_EQ(smd_->lines().count("links.retrain_stopped"), 1U);
  EXPECT_THAT(smd_->lines().first("links.retrain_stopped"),
              testing::HasSubstr("did not come up within 60 s"));
}

TEST_F(RetrainingTest, ALinkThatComesUpAsBeforeIsTriedOnceMore) {
  start(training(2s, 2s));
  for (const auto* field : {"LinkSpeedExtEnabled", "LinkSpeedEnabled"}) {
    ASSERT_TRUE(world_->fabric().faults().forgets("leaf003", wire::PortInfo::kAttribute, field));
    ASSERT_TRUE(world_->fabric().faults().forgets("spine001", wire::PortInfo::kAttribute, field));
  }

  (*smd_)->requests().reload(at_most(LinkSpeed::qdr));
  watch(10min);

  EXPECT_EQ(links_faster_than(LinkSpeed::qdr), 2U);  // both ends of the one between these two
  EXPECT_TRUE(all_active());
  EXPECT_EQ(smd_->lines().count("taken down once more"), 1U);
  EXPECT_EQ(smd_->lines().count("left as they are"), 1U);
  const auto before = steps(smd_->lines());
  world_->run_for(10min);
  EXPECT_EQ(steps(smd_->lines()), before);
}

TEST_F(RetrainingTest, OfASwitchThatHasALinkDownNoOtherIsTakenDownWhileThereIsOneElsewhere) {
  start(training(2s, 2s));
  ASSERT_TRUE(world_->fabric().faults().link_down({"leaf002", PortNum{5}}));
  world_->run_for(2s);

  (*smd_)->requests().reload(at_most(LinkSpeed::qdr));
  const auto worst = watch(15s);
  EXPECT_EQ(worst.switches, 1U);
  EXPECT_GE(steps(smd_->lines()), 4U);
  watch(10min);  // those of leaf002 are last, one by one

  EXPECT_EQ(links_faster_than(LinkSpeed::qdr), 0U);
  EXPECT_EQ(links_down(), 1U);
}

TEST_F(RetrainingTest, OnceWaitsForAllSteps) {
  sim::World world(test::spec("ft2:4"), training(5s, 10s));
  Managed smd(world, at_most(LinkSpeed::qdr), test::once());
  world.run(smd->run());

  EXPECT_EQ(smd.last().summary.state, sm::SweepState::up);
  for (const auto& port : world.fabric().state().ports) {
    if (port.peer != sim::kNowhere) EXPECT_LE(port.speed, LinkSpeed::qdr);
  }
}

/// OperationalVLs and NeighborMTU of ports with links that are Active, as they are shown.
using Shown = std::vector<std::pair<std::uint8_t, Mtu>>;
Shown shown(const sim::State& state) {
  Shown all;
  for (const auto& port : state.ports) {
    if (port.peer != sim::kNowhere) all.emplace_back(port.info.operational_vls, port.info.neighbor_mtu);
  }
  return all;
}

TEST(LinksInOperation, KeepVlsAndMtuInATakeover) {
  auto options = sim::World::default_options();
  options.firmware.vls_at_once = true;
  sim::World world(test::spec("ft2:8"), options);
  config::SubnetConfig fewer;
  fewer.links.operational_vls = 2;
  fewer.links.mtu = Mtu::m2048;
  {
    Managed before(world, fewer);
    test::run_for(world, {&*before}, 2s);
  }
  const auto left = shown(world.fabric().state());
  ASSERT_TRUE(std::ranges::all_of(
      left, [](const auto& port) { return port == std::pair{std::uint8_t{2}, Mtu::m2048}; }));
  unsigned unequal = 0, down = 0;
  world.fabric().watch_sets([&](const sim::DoneSet&) {
    for (const auto& port : world.fabric().state().ports) {
      if (port.peer == sim::kNowhere) continue;
      unequal += port.vls != world.fabric().state().ports[port.peer].vls ? 1U : 0U;
      down += port.link_up() ? 0U : 1U;
    }
  });

  Managed smd(world, "h00005", {});
  test::run_for(world, {&*smd}, 5s);
  world.fabric().watch_sets(nullptr);

  EXPECT_EQ(smd.last().summary.state, sm::SweepState::up);
  EXPECT_EQ(shown(world.fabric().state()), left);
  EXPECT_EQ(unequal, 0U);
  EXPECT_EQ(down, 0U);
}

TEST(LinksInOperation, GetOtherVlsWithTheNextTraining) {
  auto options = sim::World::default_options();
  options.firmware.vls_at_once = true;
  sim::World world(test::spec("ft2:4"), options);
  mad::TaskGroup group(world.io().get_executor());
  config::SubnetConfig config;
  config.links.operational_vls = 2;
  Managed smd(world, config);
  group.spawn(smd->run());
  world.run_for(2s);
  unsigned unequal = 0;
  world.fabric().watch_sets([&](const sim::DoneSet&) {
    for (const auto& port : world.fabric().state().ports) {
      const bool active = port.info.port_state == PortState::active && port.peer != sim::kNowhere;
      const auto* peer = active ? &world.fabric().state().ports[port.peer] : nullptr;
      unequal += active && peer->info.port_state == PortState::active && port.vls != peer->vls ? 1U : 0U;
    }
  });

  config.links.operational_vls = 4;
  smd->requests().reload(config);
  world.run_for(2min);
  world.fabric().watch_sets(nullptr);
  world.run(group.stop());

  EXPECT_EQ(unequal, 0U);
  EXPECT_TRUE(std::ranges::all_of(shown(world.fabric().state()), [](const auto& port) {
    return port.first == 3;
  })) << testing::PrintToString(smd.lines().all);
  EXPECT_EQ(smd.last().summary.state, sm::SweepState::up);
  EXPECT_GE(steps(smd.lines()), 3U);
}

TEST(LinksInOperation, GetALowerMtuInPlace) {
  sim::World world(test::spec("ft2:4"));
  mad::TaskGroup group(world.io().get_executor());
  Managed smd(world);
  group.spawn(smd->run());
  world.run_for(2s);
  config::SubnetConfig config;
  config.links.mtu = Mtu::m1024;

  smd->requests().reload(config);
  world.run_for(10s);
  world.run(group.stop());

  EXPECT_TRUE(std::ranges::all_of(shown(world.fabric().state()),
                                  [](const auto& port) { return port.second == Mtu::m1024; }));
  EXPECT_EQ(steps(smd.lines()), 0U);
}

}  // namespace
}  // namespace smd
