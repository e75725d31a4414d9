// SPDX-License-Identifier: Apache-2.0
// Switches that answer Sets of their forwarding tables well and do not keep all of what was sent.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "mad/sim/packets/reach.h"
#include "mad/wire/attributes.h"
#include "mad/wire/smp.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Managed;

/// Sets of an attribute that were sent in the time.
std::size_t sets(sim::World& world, Managed& manager, std::uint16_t attribute, sim::Duration time) {
  world.record_trace(true);
  test::run_for(world, {&*manager}, time);
  std::size_t count = 0;
  for (const auto& entry : world.trace()) {
    const auto smp = wire::Smp::from_bytes(entry.bytes);
    const bool set = entry.sent && smp && smp->method() == wire::Method::set;
    count += set && smp->attribute() == attribute ? 1U : 0U;
  }
  return count;
}

sim::Reach reach(sim::World& world) { return sim::reach(world.fabric().state()); }

std::string failures(const sim::Reach& found) { return testing::PrintToString(found.failures); }

constexpr auto kLft = wire::LinearForwardingTable::kAttribute;

TEST(KeptEntries, OfASpineAreRoutedRound) {
  sim::World world(test::spec("ft2:8"));
  for (const auto* lid : {"20", "21", "30"}) world.fabric().faults().forgets("spine000", kLft, lid);
  Managed manager(world);
  test::run_for(world, {&*manager}, 30s);

  const auto found = reach(world);
  EXPECT_TRUE(found.all()) << found.delivered << " of " << found.pairs << failures(found);
  EXPECT_EQ(manager.last().summary.state, sm::SweepState::up) << manager.last().summary.why;
  EXPECT_EQ(manager.last().summary.sets_left, 0U);
  const auto line = manager.lines().first("field.not_kept");
  EXPECT_NE(line.find("name=spine000"), std::string::npos) << line;
  EXPECT_NE(line.find("entries=3"), std::string::npos) << line;
  EXPECT_EQ(manager.lines().count("field.not_kept"), 1U);
}

TEST(KeptEntries, AreNotWrittenAgainAndAgain) {
  sim::World world(test::spec("ft2:8"));
  world.fabric().faults().forgets("spine000", kLft, "20");
  Managed manager(world);
  // One block for each of 12 switches, and once more for those that go round.
  EXPECT_LE(sets(world, manager, kLft, 60s), 24U);
}

TEST(KeptEntries, GoBackToTheirPlaceAfterARestart) {
  sim::World world(test::spec("ft2:8"));
  world.fabric().faults().forgets("spine000", kLft, "20");
  Managed manager(world);
  world.at(world.now() + 10s, [](sim::Fabric& fabric) {
    fabric.faults().heal("spine000");
    fabric.faults().reboot("spine000", 1s);
  });
  test::run_for(world, {&*manager}, 30s);

  const auto found = reach(world);
  EXPECT_TRUE(found.all()) << failures(found);
  EXPECT_TRUE(manager.last().decided.routes->kept.empty());
  EXPECT_EQ(manager.last().summary.state, sm::SweepState::up) << manager.last().summary.why;
}

TEST(KeptEntries, OfAllOfATableAreRoutedRound) {
  sim::World world(test::spec("ft2:8"));
  world.fabric().faults().forgets("spine000", kLft, "all");
  Managed manager(world);
  test::run_for(world, {&*manager}, 30s);

  const auto found = reach(world);
  EXPECT_TRUE(found.all()) << failures(found);
}

/// The block above LinearFDBTop, which is 0 after a reset.
void bring_up_above_top(sim::AboveTop does) {
  sim::World world(test::spec("ft2:12"));
  for (const auto* name : {"spine000", "leaf003"}) world.fabric().faults().above_top(name, does);
  Managed manager(world);
  test::run_for(world, {&*manager}, 30s);

  const auto found = reach(world);
  EXPECT_TRUE(found.all()) << found.delivered << " of " << found.pairs << failures(found);
  EXPECT_EQ(manager.last().summary.state, sm::SweepState::up) << manager.last().summary.why;
  EXPECT_EQ(manager.last().summary.sets_left, 0U);
}

TEST(AboveTop, BlocksThatAreRefusedAreWrittenOnceTheTopHasRisen) {
  bring_up_above_top(sim::AboveTop::refused);
}

TEST(AboveTop, BlocksThatAreIgnoredAreWrittenOnceTheTopHasRisen) {
  bring_up_above_top(sim::AboveTop::ignored);
}

}  // namespace
}  // namespace smd
