// SPDX-License-Identifier: Apache-2.0
// Fabrics that lose most of what is sent.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/managed_world.h"

namespace smd {
namespace {

using std::chrono::seconds;
using test::Managed;

/// Every link but our own loses a third of all MADs each way: of four hops and back one in thirty arrives.
void lose_a_third(sim::World& world) {
  const auto& state = world.fabric().state();
  for (const auto& node : state.nodes) {
    for (unsigned number = 1; node.is_switch() && number <= node.ports; ++number) {
      const auto peer = state.port(node, number).peer;
      if (peer == sim::kNowhere || state.node_of(peer).name == "h00000") continue;
      world.fabric().faults().link_loss({node.name, PortNum{static_cast<std::uint8_t>(number)}}, 0.34);
    }
  }
}

TEST(Loss, AFabricThatLosesMostOfAllMadsComesUpWithinAMinute) {
  sim::World world(test::spec("ft2:8"));
  lose_a_third(world);
  Managed manager(world);

  test::run_for(world, {&*manager}, seconds(60));

  // Later a node may leave all tries of one attribute without an answer.
  EXPECT_GE(manager.lines().count("subnet.up state=up"), 1U) << testing::PrintToString(manager.lines().all);
  EXPECT_EQ(manager.last().summary.cas, 32U);
  EXPECT_TRUE(world.fabric().reach().all());
}

TEST(Loss, AFabricThatLosesFortyPercentOfAllMadsComesUpWithinAMinute) {
  for (const auto* fabric : {"ft2:8", "ft3:4", "torus:3x3", "dragonfly:3:1"}) {
    sim::World world(test::spec(fabric));
    world.fabric().faults().loss(0.4);
    Managed manager(world);

    test::run_for(world, {&*manager}, seconds(60));

    EXPECT_EQ(manager.last().summary.state, sm::SweepState::up)
        << fabric << testing::PrintToString(manager.lines().all);
    EXPECT_TRUE(world.fabric().reach().all()) << fabric;
  }
}

/// What is lost because the cable is out is not made good by more tries.
TEST(Loss, AFabricThatIsCutOffUnderLossIsNotFlooded) {
  sim::World world(test::spec("ft2:8"));
  world.fabric().faults().loss(0.4);
  Managed manager(world);
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(manager->run());
  world.run_for(seconds(60));
  ASSERT_EQ(manager.last().summary.state, sm::SweepState::up);
  const auto sent = [&] {
    return manager->counters().total(&mad::AttributeCounters::sent, wire::Method::get);
  };
  const auto before = sent();

  world.fabric().faults().link_down({"h00000", PortNum{1}});
  world.run_for(seconds(20));

  EXPECT_LT(sent() - before, 10'000U);
  EXPECT_TRUE(sm::is_cut_off(*manager.last().subnet));
  world.run(group.stop());
}

TEST(Loss, SilentNodesOfASoundFabricAreGivenUpAsSoonAsBefore) {
  sim::World world(test::spec("ft2:8"));
  for (const auto* host : {"h00003", "h00009", "h00017"}) world.fabric().faults().silent(host);
  Managed manager(world, {}, test::once());

  world.run(manager->run());

  EXPECT_EQ(manager.last().summary.unresponsive, 3U);
  EXPECT_LT(manager.last().summary.total_ms, 1200.0);
}

/// Slower than a request lasts: its late answer to the first question tells that it is slow, not dead.
TEST(Loss, ANodeThatAnswersAfterOneAndAHalfSecondsComesUp) {
  for (const auto* node : {"h00009", "leaf003", "spine001"}) {
    sim::World world(test::spec("ft2:8"));
    world.fabric().faults().slow(node, std::chrono::milliseconds(1500));
    Managed manager(world);

    test::run_for(world, {&*manager}, seconds(120));

    EXPECT_EQ(manager.last().summary.state, sm::SweepState::up)
        << node << testing::PrintToString(manager.lines().all);
    EXPECT_EQ(manager.last().summary.unresponsive, 0U) << node;
  }
}

/// Of what crosses a host's link this much is lost, but for the manager's own.
void lose_at_hosts(sim::World& world, double chance) {
  for (const auto& node : world.fabric().state().nodes) {
    if (node.is_switch() || node.name == "h00000") continue;
    world.fabric().faults().link_loss({node.name, PortNum{1}}, chance);
  }
}

/// Linked ports of switches that lead nowhere although nothing says why.
std::vector<std::string> forgotten_ports(const sm::Subnet& subnet) {
  std::vector<std::string> found;
  for (const auto& node : subnet.nodes) {
    for (std::size_t p = 1; node->is_switch() && p < node->ports.size(); ++p) {
      const sm::PeerPort here{node->guid(), PortNum{static_cast<std::uint8_t>(p)}};
      if (!node->ports[p].linked() || node->ports[p].peer) continue;
      const auto behind = std::ranges::find(subnet.unresponsive, here, &sm::Unresponsive::behind);
      const bool twice = std::ranges::any_of(subnet.duplicates, [&](const sm::DuplicateGuid& duplicate) {
        return std::ranges::find(duplicate.places, here) != duplicate.places.end();
      });
      if (behind == subnet.unresponsive.end() && !twice)
        found.push_back(fmt::format("{} port {}", node->description, p));
    }
  }
  return found;
}

/// A host whose port had never answered was taken off its leaf, and the leaf not asked for it again: up
/// without it until the next heavy sweep.
TEST(Loss, APortWithALinkIsFollowedOrItsSilenceIsTold) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    for (const auto* fabric : {"ft2:8", "ft3:4", "torus:3x3"}) {
      auto options = sim::World::default_options();
      options.seed = seed;
      sim::World world(test::spec(fabric), options);
      world.fabric().faults().loss(0.4);
      lose_at_hosts(world, 0.6 + 0.1 * static_cast<double>(seed % 3));
      Managed manager(world);
      manager.on_sweep([&](const sm::Snapshot& snapshot) {
        EXPECT_EQ(forgotten_ports(*snapshot.subnet), std::vector<std::string>{})
            << fabric << " seed " << seed << ": " << manager.lines().all.back();
      });

      test::run_for(world, {&*manager}, seconds(60));
    }
  }
}

}  // namespace
}  // namespace smd
