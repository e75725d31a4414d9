// SPDX-License-Identifier: Apache-2.0
// What happens in a fabric that is up: found by traps or without them, acted on in parts, and not too often.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <utility>

#include "mad/wire/attributes.h"
#include "tests/support/managed_world.h"
#include "tests/support/partition_config.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Managed;
using testing::HasSubstr;

/// A manager that runs, and the sweeps that it has ended.
class Running {
 public:
  explicit Running(std::string_view fabric, config::SubnetConfig config = {},
                   const sim::Options& made_with = sim::World::default_options())
      : world_(test::spec(fabric), made_with),
        manager_(world_, std::move(config)),
        group_(world_.io().get_executor()) {
    manager_.on_sweep([this](const sm::Snapshot& snapshot) { sweeps_.push_back(snapshot.summary); });
    group_.spawn(manager_->run());
    world_.run_for(5s);
    sweeps_.clear();
    world_.fabric().counts().clear();
  }
  ~Running() { world_.run(group_.stop()); }

  sim::World& world() { return world_; }
  sim::Faults faults() { return world_.fabric().faults(); }
  const std::vector<sm::SweepSummary>& sweeps() const { return sweeps_; }
  Managed& manager() { return manager_; }
  const sm::SweepSummary& last() const { return sweeps_.back(); }
  std::string lines() const { return testing::PrintToString(manager_.lines().all); }

 private:
  std::vector<sm::SweepSummary> sweeps_;
  sim::World world_;
  Managed manager_;
  mad::TaskGroup group_;
};

config::SubnetConfig without_light_sweeps() {
  config::SubnetConfig config;
  config.sweep.interval = {};
  return config;
}

TEST(Events, ACutLinkIsFoundByItsTrapAndOnlyItsEndsAreRead) {
  Running fabric("ft2:8", without_light_sweeps());

  fabric.faults().link_down({"leaf003", PortNum{6}});
  fabric.world().run_for(100ms);

  ASSERT_FALSE(fabric.sweeps().empty()) << fabric.lines();
  const auto& first = fabric.sweeps().front();
  EXPECT_EQ(first.sweep, sm::SweepKind::incremental);
  EXPECT_THAT(first.reason, HasSubstr("trap 128"));
  EXPECT_EQ(first.links, 63U);
  EXPECT_EQ(fabric.manager().last().summary.state, sm::SweepState::reduced);
  EXPECT_LT(first.smps_get, 50U);
  EXPECT_EQ(first.timeouts, 0U);
}

TEST(Events, ALinkThatComesBackIsBroughtUp) {
  Running fabric("ft2:8", without_light_sweeps());
  fabric.faults().link_down({"leaf003", PortNum{6}});
  fabric.world().run_for(10s);

  fabric.faults().link_up({"leaf003", PortNum{6}});
  fabric.world().run_for(10s);

  EXPECT_EQ(fabric.last().sweep, sm::SweepKind::incremental);
  EXPECT_EQ(fabric.last().links, 64U);
  EXPECT_EQ(fabric.last().state, sm::SweepState::up);
  EXPECT_THAT(fabric.world().fabric().not_active(), testing::IsEmpty());
}

TEST(Events, ASwitchThatDiesIsRoutedRoundWithoutWaitingForItsAnswer) {
  Running fabric("ft2:8", without_light_sweeps());

  fabric.faults().remove("spine001");
  fabric.world().run_for(1s);

  ASSERT_FALSE(fabric.sweeps().empty()) << fabric.lines();
  EXPECT_EQ(fabric.last().sweep, sm::SweepKind::incremental);
  EXPECT_EQ(fabric.last().switches, 11U) << fabric.lines();
  EXPECT_EQ(fabric.manager().last().summary.state, sm::SweepState::reduced);
  EXPECT_LT(fabric.sweeps().front().total_ms, 200.0);
  EXPECT_TRUE(fabric.world().fabric().reach().all());
}

TEST(Events, ASwitchThatComesBackIsProgrammed) {
  Running fabric("ft2:8", without_light_sweeps());
  fabric.faults().remove("spine001");
  fabric.world().run_for(10s);

  fabric.faults().restore("spine001");
  fabric.world().run_for(10s);

  EXPECT_EQ(fabric.last().switches, 12U) << fabric.lines();
  EXPECT_EQ(fabric.last().state, sm::SweepState::up);
  EXPECT_THAT(fabric.world().fabric().not_active(), testing::IsEmpty());
}

TEST(Events, AHostThatGoesAndComesBackHasItsLidAgain) {
  Running fabric("ft2:8", without_light_sweeps());
  const auto lid = fabric.world().fabric().port_info({"h00009", PortNum{1}})->lid;

  fabric.faults().remove("h00009");
  fabric.world().run_for(10s);
  EXPECT_EQ(fabric.last().cas, 31U);
  fabric.faults().restore("h00009");
  fabric.world().run_for(10s);

  EXPECT_EQ(fabric.last().cas, 32U);
  EXPECT_EQ(fabric.last().lids_changed, 0U);
  EXPECT_EQ(fabric.world().fabric().port_info({"h00009", PortNum{1}})->lid, lid);
  for (const auto& sweep : fabric.sweeps()) EXPECT_EQ(sweep.sweep, sm::SweepKind::incremental);
}

/// Partitions of the port that an event names; "?": they are not known.
std::string members_then(Running& fabric, std::string_view event, std::string_view host) {
  events::Reader reader(fabric.manager().ring(), events::Start::at_oldest(),
                        {.kinds = events::kinds_of<events::NamedLogEvent>});
  std::string found = "no event";
  for (const auto& one : reader.read(1000).events) {
    if (events::name_of(*one) != event) continue;
    const auto& line = std::get<events::NamedLogEvent>(one->payload);
    for (const auto& field : line.fields.unpack()) {
      if (field.value != host || (field.key != "name" && field.key != "peer_name")) continue;
      const auto& names = field.key == "name" ? line.members.end : line.members.peer;
      found = names ? fmt::format("{}", fmt::join(*names, " ")) : "?";
    }
  }
  return found;
}

TEST(Events, KnowThePartitionsThatTheirPortsHadThen) {
  auto config = test::with_partitions(
      {test::partition("blue", 0x12, {"h00009"}, {}), test::partition("red", 0x13, {"h0001?"}, {})});
  Running fabric("ft2:8", config);

  fabric.faults().remove("h00009");
  fabric.faults().remove("h00010");
  fabric.faults().remove("h00001");
  fabric.world().run_for(10s);
  EXPECT_EQ(members_then(fabric, "link.down", "h00009"), "Default blue") << fabric.lines();
  EXPECT_EQ(members_then(fabric, "node.gone", "h00009"), "Default blue") << fabric.lines();
  EXPECT_EQ(members_then(fabric, "node.gone", "h00010"), "Default red");
  EXPECT_EQ(members_then(fabric, "node.gone", "h00001"), "Default");
  fabric.faults().restore("h00009");
  fabric.world().run_for(10s);
  EXPECT_EQ(members_then(fabric, "link.up", "h00009"), "Default blue") << fabric.lines();
}

TEST(Events, WhatNoTrapToldIsFoundByTheLightSweep) {
  config::SubnetConfig config;
  config.sweep.on_trap = false;
  Running fabric("ft2:8", config);

  fabric.faults().link_down({"leaf003", PortNum{6}});
  fabric.world().run_for(15s);

  ASSERT_EQ(fabric.manager().lines().count("sweep sweep=incremental"), 1U) << fabric.lines();
  EXPECT_EQ(fabric.last().sweep, sm::SweepKind::incremental);
  EXPECT_EQ(fabric.last().reason, "port state change");
  EXPECT_EQ(fabric.last().links, 63U);
}

TEST(Events, AFlappingPortCostsABoundedNumberOfSweeps) {
  auto made_with = sim::World::default_options();
  made_with.waits_for_training = false;  // the port flaps meanwhile
  Running fabric("ft2:8", {}, made_with);

  for (int i = 0; i < 500; ++i) {
    fabric.faults().link_down({"leaf003", PortNum{6}});
    fabric.world().run_for(10ms);
    fabric.faults().link_up({"leaf003", PortNum{6}});
    fabric.world().run_for(10ms);
  }
  EXPECT_LE(fabric.sweeps().size(), 30U);
  fabric.world().run_for(30s + made_with.training.longest);

  EXPECT_EQ(fabric.last().links, 64U);
  EXPECT_EQ(fabric.last().state, sm::SweepState::up) << fabric.lines();
  EXPECT_THAT(fabric.world().fabric().not_active(), testing::IsEmpty());
  EXPECT_LE(fabric.manager().lines().all.size(), 200U);
}

TEST(Events, AStolenLidIsFoundByTheAudit) {
  Running fabric("ft2:8");
  const auto lid = fabric.world().fabric().port_info({"h00009", PortNum{1}})->lid;

  fabric.faults().set_lid({"h00009", PortNum{1}}, Lid{77});
  fabric.world().run_for(60s);

  EXPECT_EQ(fabric.manager().lines().count("node.changed"), 1U) << fabric.lines();
  EXPECT_EQ(fabric.world().fabric().port_info({"h00009", PortNum{1}})->lid, lid);
}

TEST(Events, AChangedForwardingEntryIsFoundByTheAuditAndWrittenAgain) {
  Running fabric("ft2:4");

  fabric.faults().set_lft_entry("leaf000", Lid{3}, PortNum{4});
  fabric.world().run_for(60s);

  EXPECT_EQ(fabric.manager().lines().count("node.changed"), 1U) << fabric.lines();
  EXPECT_EQ(fabric.world().fabric().counts().sets(wire::LinearForwardingTable::kAttribute), 1U);
  EXPECT_TRUE(fabric.world().fabric().reach().all());
}

TEST(Events, AQuietFabricIsOnlyLookedAt) {
  Running fabric("ft2:8");

  fabric.world().run_for(600s);

  EXPECT_EQ(fabric.world().fabric().counts().sets(), 0U);
  EXPECT_TRUE(fabric.sweeps().empty()) << fabric.lines();
}

TEST(Events, ErrorsThatAPortReportsAreNamedAndNothingIsSwept) {
  Running fabric("ft2:8", without_light_sweeps());

  fabric.faults().port_error({"leaf003", PortNum{2}}, 129);
  fabric.world().run_for(10s);

  EXPECT_TRUE(fabric.sweeps().empty());
  EXPECT_THAT(fabric.manager().lines().first("trap"), HasSubstr("leaf003"));
}

/// A switch that goes, cable by cable, is not waited for: its neighbours are asked again meanwhile.
TEST(Events, ADeadLeafIsNotWaitedFor) {
  for (const auto apart : {0us, 20us, 100us, 1000us, 7000us}) {
    Running fabric("ft2:8", without_light_sweeps());

    for (std::uint8_t port = 8; port >= 1; --port) {
      fabric.faults().link_down({"leaf003", PortNum{port}});
      fabric.world().run_for(apart);
    }
    fabric.world().run_for(5s);

    ASSERT_FALSE(fabric.sweeps().empty()) << apart.count() << " us apart " << fabric.lines();
    EXPECT_EQ(fabric.last().switches, 11U) << fabric.lines();
    EXPECT_EQ(fabric.last().cas, 28U);
    EXPECT_EQ(fabric.manager().last().summary.state, sm::SweepState::reduced)
        << apart.count() << fabric.lines();
    for (const auto& sweep : fabric.sweeps())
      EXPECT_LT(sweep.total_ms, 500) << apart.count() << " us apart " << fabric.lines();
  }
}

/// The same of one whose hosts die with it after it has told of something.
TEST(Events, ASwitchThatDiesAfterItsTrapIsNotWaitedFor) {
  Running fabric("ft3:4", without_light_sweeps());

  fabric.faults().link_down({"edge02-00", PortNum{1}});
  fabric.world().run_for(30us);
  fabric.faults().remove("edge02-00");
  fabric.world().run_for(5s);

  ASSERT_FALSE(fabric.sweeps().empty()) << fabric.lines();
  EXPECT_EQ(fabric.last().switches, 19U) << fabric.lines();
  EXPECT_EQ(fabric.last().cas, 14U);
  EXPECT_EQ(fabric.manager().last().summary.state, sm::SweepState::reduced);
  for (const auto& sweep : fabric.sweeps()) EXPECT_LT(sweep.total_ms, 300) << fabric.lines();
}

/// Tables of a master before us: right, and not what we would choose.
TEST(Adopt, ProvenTablesStayUntilTheOperatorWantsOthers) {
  sim::World world(test::spec("ft2:8"));
  {
    config::SubnetConfig other;
    other.routing.engines = {"minhop"};
    Managed before(world, other, test::once());
    world.run(before->run());
  }
  // Of two neighbouring LIDs at least one went by another spine; this way is legal all the same.
  for (const auto* host : {"h00030", "h00031"}) {
    const auto lid = world.fabric().port_info({host, PortNum{1}})->lid;
    world.fabric().faults().set_lft_entry("leaf000", lid, PortNum{5});
  }
  world.fabric().counts().clear();
  Managed manager(world);
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(manager->run());
  world.run_for(5s);

  EXPECT_EQ(world.fabric().counts().sets(), 0U) << testing::PrintToString(manager.lines().all);
  EXPECT_EQ(manager.last().decided.routes->origin, sm::RoutePart::Origin::adopted);
  EXPECT_THAT(manager.lines().first("routing.adopted"), HasSubstr("smd resweep converge"));
  const auto differing = manager.last().decided.routes->would_change;
  EXPECT_GT(differing, 0U);

  manager->requests().resweep(sm::Resweep::converge, "test");
  world.run_for(30s);
  world.run(group.stop());

  EXPECT_EQ(manager.last().decided.routes->origin, sm::RoutePart::Origin::fresh);
  EXPECT_GT(world.fabric().counts().sets(wire::LinearForwardingTable::kAttribute), 0U);
  EXPECT_TRUE(world.fabric().reach().all());
}

/// A ring whose hosts' traffic closes no circle of channels, but that of the switches among themselves does,
/// as in trees that opensm has routed: it works, so it stays; and so it does when something is repaired.
TEST(Adopt, CirclesOfTheSwitchesOwnTrafficAreNoReasonToChangeAnything) {
  sim::World world(test::spec("mesh:2x2:1"));
  {
    Managed before(world, {}, test::once());
    world.run(before->run());
  }
  // Each switch and its port to the next: the switch across is reached this way round from everywhere.
  const std::array<std::pair<std::string, PortNum>, 4> ring{
      {{"m00-00", PortNum{3}}, {"m00-01", PortNum{1}}, {"m01-01", PortNum{4}}, {"m01-00", PortNum{2}}}};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto lid = world.fabric().port_info({ring[(i + 2) % 4].first, PortNum{0}})->lid;
    world.fabric().faults().set_lft_entry(ring[i].first, lid, ring[i].second);
  }
  world.fabric().counts().clear();
  Managed manager(world);
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(manager->run());
  world.run_for(5s);

  EXPECT_EQ(world.fabric().counts().sets(), 0U) << testing::PrintToString(manager.lines().all);
  EXPECT_EQ(manager.last().decided.routes->verification.management_credit_loops, 1U);
  EXPECT_EQ(manager.last().summary.state, sm::SweepState::up);

  manager->requests().resweep(sm::Resweep::converge, "test");
  world.run_for(30s);
  world.run(group.stop());

  EXPECT_TRUE(manager.last().decided.routes->verification.clean());
  EXPECT_EQ(manager.last().decided.routes->origin, sm::RoutePart::Origin::fresh);
  EXPECT_TRUE(world.fabric().reach().all());
}

}  // namespace
}  // namespace smd
