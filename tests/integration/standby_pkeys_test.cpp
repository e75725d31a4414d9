// SPDX-License-Identifier: Apache-2.0
// Clients that are limited members of the default partition reach each SM: the one that is master, and the
// next one at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mad/sim/state/tables.h"
#include "mad/wire/tables.h"
#include "tests/support/partition_config.h"
#include "tests/support/scripted_sm.h"
#include "tests/support/sm_site.h"

namespace smd {
namespace {

using test::partition;

constexpr PKey kLimitedMember{0x7fff};

/// Partitions by which all ports are limited members, and which name no SM but SELF.
config::SubnetConfig closed(std::uint8_t priority) {
  auto config = test::with_partitions({partition("Default", 0x7fff, {"SELF"}, {"ALL"})});
  config.sm.priority = priority;
  return config;
}

/// The first key of a host's port, and that of the switch port before it.
std::pair<PKey, PKey> first_keys(sim::World& world, const std::string& host) {
  const auto& state = world.fabric().state();
  const auto at = state.index(state.nodes[*sim::find_node(state, host)], 1);
  return {sim::p_key(state, at, 0), sim::p_key(state, state.ports[at].peer, 0)};
}

TEST(StandbyPKeys, AStandbyIsAFullMemberBeforeItTakesTheFabric) {
  test::SmSite site("ft2:4");
  site.start("h00000", closed(5));
  site.world.run_for(std::chrono::seconds(3));
  EXPECT_EQ(first_keys(site.world, "h00003"), std::pair(kLimitedMember, kLimitedMember));
  site.start("h00003", closed(3));
  site.world.run_for(std::chrono::seconds(5));
  const std::pair full{kDefaultPKey, kDefaultPKey};
  EXPECT_EQ(first_keys(site.world, "h00000"), full);
  EXPECT_EQ(first_keys(site.world, "h00003"), full);
  EXPECT_EQ(first_keys(site.world, "h00001"), std::pair(kLimitedMember, kLimitedMember));

  std::size_t sets = 0;
  site.world.fabric().watch_sets(
      [&sets](const sim::DoneSet& set) { sets += set.attribute == wire::PKeyTable::kAttribute ? 1U : 0U; });
  site.kill("h00000");
  site.world.run_for(std::chrono::seconds(10));
  EXPECT_EQ(site.state("h00003"), wire::SmState::master) << site.story();
  EXPECT_EQ(sets, 0U);
  EXPECT_EQ(first_keys(site.world, "h00000"), full) << "it was an SM, and may be one again";
  site.start("h00000", closed(2));
  site.world.run_for(std::chrono::seconds(5));
  EXPECT_EQ(sets, 0U);
}

TEST(StandbyPKeys, AnSmOfAnotherSubnetIsNone) {
  test::SmSite site("ft2:4");
  test::ScriptedSm stranger(site.world, {"h00003", PortNum{1}});
  stranger.says = wire::SmInfo{
      .guid = Guid{0x77}, .sm_key = 7, .act_count = 1, .priority = 0, .state = wire::SmState::standby};
  site.start("h00000", closed(5));
  site.world.run_for(std::chrono::seconds(5));

  EXPECT_EQ(site.state("h00000"), wire::SmState::master) << site.story();
  EXPECT_EQ(first_keys(site.world, "h00000"), std::pair(kDefaultPKey, kDefaultPKey));
  EXPECT_EQ(first_keys(site.world, "h00003"), std::pair(kLimitedMember, kLimitedMember));
}

}  // namespace
}  // namespace smd
