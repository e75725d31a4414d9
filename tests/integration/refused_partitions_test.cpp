// SPDX-License-Identifier: Apache-2.0
// Partitions where hosts and switches do not answer, refuse or do not keep what they are told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/api/json_in.h"
#include "smd/api/router.h"
#include "tests/support/api_backend.h"
#include "tests/support/managed_partitions.h"
#include "tests/support/partition_config.h"

namespace smd {
namespace {

using test::partition;
using test::with_partitions;
using testing::ElementsAre;

constexpr PKey kDefaultLimited{0x7fff};
const std::vector<std::uint16_t> kAllButPKeys{wire::NodeInfo::kAttribute,
                                              wire::NodeDescription::kAttribute,
                                              wire::SwitchInfo::kAttribute,
                                              wire::PortInfo::kAttribute,
                                              wire::GuidInfo::kAttribute,
                                              wire::SlToVl::kAttribute,
                                              wire::VlArbitration::kAttribute,
                                              wire::LinearForwardingTable::kAttribute,
                                              wire::MulticastForwardingTable::kAttribute};

class RefusedPartitions : public test::ManagedPartitions {};

/// With its table unread it had the full key that a reset leaves, for good, and its switch let everything
/// pass.
TEST_F(RefusedPartitions, AHostWhoseTableIsNotAnsweredIsNotOpenMeanwhile) {
  start(blue());
  const auto state = [&] { return world_.fabric().state().ports[index("h1", 1)].info.port_state; };
  ASSERT_EQ(state(), PortState::active);
  ASSERT_TRUE(world_.fabric().faults().answers_only(
      "h1", {wire::NodeInfo::kAttribute, wire::NodeDescription::kAttribute, wire::PortInfo::kAttribute,
             wire::GuidInfo::kAttribute, wire::SlToVl::kAttribute, wire::VlArbitration::kAttribute}));
  world_.fabric().faults().reboot("h1", std::chrono::milliseconds(100));
  run(std::chrono::seconds(10));
  EXPECT_TRUE(state() != PortState::active || bits("leaf1", 1) == std::pair(true, true));
  EXPECT_THAT(keys("leaf1", 1), ElementsAre(kDefaultLimited, PKey{0x8012}));
  EXPECT_NE(smd().last().summary.state, sm::SweepState::up);

  world_.fabric().faults().answers_only("h1", {});
  run(std::chrono::minutes(1));
  EXPECT_EQ(state(), PortState::active);
  EXPECT_THAT(keys("h1", 1), ElementsAre(kDefaultLimited, PKey{0x8012}));
  EXPECT_EQ(bits("leaf1", 1), std::pair(true, true));
  EXPECT_EQ(smd().last().summary.state, sm::SweepState::up) << smd().last().summary.why;
}

/// Its members have their keys: nothing stops their packets.
TEST_F(RefusedPartitions, ASwitchThatDoesNotKeepItsBitsIsNamedWhereItMustEnforce) {
  for (const auto* field : {"PartitionEnforcementInbound", "PartitionEnforcementOutbound"})
    ASSERT_TRUE(world_.fabric().faults().forgets("leaf1", wire::PortInfo::kAttribute, field));
  start(blue());
  test::FakeBackend backend;
  backend.add({.name = "a", .port = "p", .snapshot = std::make_shared<sm::Snapshot>(smd().last())});
  const auto answer =
      api::answer({.method = "GET", .target = "/v1/subnets/a/partitions/blue", .body = {}}, backend);
  EXPECT_EQ(api::parse_json(answer.body)->at("ready"), "2 of 2") << answer.body;
  EXPECT_EQ(smd().lines().count("partition.not_enforced"), 0U);

  auto config = blue();
  config.partitions.enforcement_required = true;
  reload(config);
  EXPECT_GE(smd().lines().count("partition.not_enforced"), 1U);
  world_.fabric().faults().reboot("h1", std::chrono::milliseconds(100));
  run(std::chrono::seconds(10));
  EXPECT_EQ(world_.fabric().state().ports[index("h1", 1)].info.port_state, PortState::armed);
}

TEST_F(RefusedPartitions, ASwitchThatRefusesItsTableLetsItsHostsIn) {
  auto faults = world_.fabric().faults();
  ASSERT_TRUE(faults.refuses("leaf1", wire::PKeyTable::kAttribute, 0x001C));
  start(blue());
  const auto state = [&] { return world_.fabric().state().ports[index("h1", 1)].info.port_state; };

  EXPECT_EQ(state(), PortState::active);
  EXPECT_EQ(bits("leaf1", 1), std::pair(false, false)) << testing::PrintToString(smd().lines().all);
  EXPECT_EQ(smd().last().summary.state, sm::SweepState::degraded);
  EXPECT_GE(smd().last().summary.sets_failed, 1U);

  faults.refuses("leaf1", wire::PKeyTable::kAttribute, 0);
  smd()->requests().resweep(sm::Resweep::heavy, "test");
  run();
  EXPECT_EQ(bits("leaf1", 1), std::pair(true, true));
  EXPECT_EQ(smd().last().summary.state, sm::SweepState::up) << smd().last().summary.why;
}

TEST_F(RefusedPartitions, ASwitchThatRefusesItsTableKeepsHostsOutWhereItMustEnforce) {
  world_.fabric().faults().refuses("leaf1", wire::PKeyTable::kAttribute, 0x001C);
  auto config = blue();
  config.partitions.enforcement_required = true;
  start(config);

  EXPECT_NE(world_.fabric().state().ports[index("h1", 1)].info.port_state, PortState::active);
  EXPECT_EQ(smd().last().summary.state, sm::SweepState::degraded);
}

/// Its switch port takes no packets with it any more.
TEST_F(RefusedPartitions, AHostThatRefusesToLoseAKeyLosesItAtItsSwitch) {
  start(blue());
  for (const bool silent : {false, true}) {
    auto faults = world_.fabric().faults();
    if (silent) faults.silent("h1");
    if (!silent) faults.refuses("h1", wire::PKeyTable::kAttribute, 0x001C);
    reload(with_partitions({partition("blue", 0x12, {}, {"h2"})}));

    EXPECT_THAT(keys("h1", 1), testing::Contains(PKey{0x8012})) << silent;
    EXPECT_THAT(keys("leaf1", 1), testing::Not(testing::Contains(PKey{0x8012}))) << silent;
    EXPECT_NE(smd().last().summary.state, sm::SweepState::up) << silent;
    faults.heal("h1");
    faults.refuses("h1", wire::PKeyTable::kAttribute, 0);
    faults.silent("h1", false);
    smd()->requests().resweep(sm::Resweep::heavy, "test");
    reload(blue());
    ASSERT_THAT(keys("h1", 1), testing::Contains(PKey{0x8012})) << silent;
  }
}

/// The host has its key, and the switch before it, which enforces, has refused it: packets do not pass.
TEST_F(RefusedPartitions, AMemberIsProgrammedOnceItsSwitchLetsTheKeyPass) {
  start(blue());
  auto faults = world_.fabric().faults();
  ASSERT_TRUE(faults.refuses("leaf1", wire::PKeyTable::kAttribute, 0x001C));
  reload(with_partitions({partition("blue", 0x12, {"h1"}, {"h2"}), partition("red", 0x13, {"h1"})}));
  smd()->requests().resweep(sm::Resweep::heavy, "test");
  run();
  const auto state = [&] {
    test::FakeBackend backend;
    backend.add({.name = "a", .port = "p", .snapshot = std::make_shared<sm::Snapshot>(smd().last())});
    const auto answer =
        api::answer({.method = "GET", .target = "/v1/subnets/a/partitions/red", .body = {}}, backend);
    const auto shown = *api::parse_json(answer.body);
    EXPECT_EQ(shown.at("refused"), shown.at("members").at(0).at("state") == "refused" ? 1 : 0);
    return shown.at("members").at(0).at("state");
  };

  ASSERT_EQ(bits("leaf1", 1), std::pair(true, true));
  EXPECT_EQ(keys("h1", 1).back(), PKey{0x8013});
  EXPECT_EQ(state(), "refused");

  faults.refuses("leaf1", wire::PKeyTable::kAttribute, 0);
  smd()->requests().resweep(sm::Resweep::heavy, "test");
  run();
  EXPECT_EQ(state(), "programmed");
}

TEST_F(RefusedPartitions, APortThatDoesNotAnswerItsSetGetsItLater) {
  start(blue());
  auto config = blue();
  config.partition[0].full = test::port_terms({"h1", "h2"});
  world_.fabric().faults().silent("h2");
  world_.at(world_.now() + std::chrono::seconds(2),
            [](sim::Fabric& fabric) { fabric.faults().silent("h2", false); });
  reload(config);
  run(std::chrono::seconds(10));
  EXPECT_THAT(keys("h2", 1), ElementsAre(kDefaultLimited, PKey{0x8012}));
  EXPECT_EQ(smd().last().summary.state, sm::SweepState::up);
}

/// Its ports let all partitions pass until the next heavy sweep, with the state up.
TEST_F(RefusedPartitions, ASwitchWhoseTablesWereNotAnsweredEnforcesAsSoonAsItTakesThem) {
  const auto state = [&] { return world_.fabric().state().ports[index("h1", 1)].info.port_state; };
  for (const bool required : {false, true}) {
    auto config = blue();
    config.partitions.enforcement_required = required;
    if (!required) start(config);
    if (required) reload(config);
    ASSERT_TRUE(world_.fabric().faults().answers_only("leaf1", kAllButPKeys));
    world_.fabric().faults().reboot("leaf1", std::chrono::milliseconds(100));
    run(std::chrono::seconds(10));
    EXPECT_EQ(state() == PortState::active, !required) << required;
    EXPECT_EQ(smd().last().summary.state, sm::SweepState::degraded) << required;

    world_.fabric().faults().answers_only("leaf1", {});
    run(std::chrono::minutes(1));
    EXPECT_EQ(state(), PortState::active) << required;
    EXPECT_THAT(keys("leaf1", 1), ElementsAre(kDefaultLimited, PKey{0x8012})) << required;
    EXPECT_EQ(bits("leaf1", 1), std::pair(true, true)) << required;
    EXPECT_THAT(keys("leaf1", 0), ElementsAre(kDefaultLimited)) << "by the audit";
    EXPECT_EQ(smd().last().summary.state, sm::SweepState::up) << smd().last().summary.why;
  }
}

/// Its enforcement was turned off by the sweep that missed one answer, and stayed off.
TEST_F(RefusedPartitions, ASwitchWhoseSwitchInfoIsNotAnsweredGoesOnEnforcing) {
  auto config = blue();
  config.partitions.enforcement_required = true;
  start(config);
  auto attributes = kAllButPKeys;
  std::erase(attributes, wire::SwitchInfo::kAttribute);
  attributes.push_back(wire::PKeyTable::kAttribute);
  ASSERT_TRUE(world_.fabric().faults().answers_only("leaf1", attributes));
  smd()->requests().resweep(sm::Resweep::heavy, "test");
  run(std::chrono::seconds(10));
  EXPECT_EQ(bits("leaf1", 1), std::pair(true, true));
  EXPECT_THAT(keys("leaf1", 1), ElementsAre(kDefaultLimited, PKey{0x8012}));

  world_.fabric().faults().answers_only("leaf1", {});
  run(std::chrono::minutes(1));
  EXPECT_EQ(bits("leaf1", 1), std::pair(true, true));
  EXPECT_EQ(smd().last().summary.state, sm::SweepState::up) << smd().last().summary.why;
  config = with_partitions({partition("blue", 0x12, {"h1"}, {"h2"}), partition("red", 0x13, {"h1"})});
  reload(config);
  EXPECT_THAT(keys("leaf1", 1), ElementsAre(kDefaultLimited, PKey{0x8012}, PKey{0x8013})) << "it is read";
}

/// The operator saw a switch that does not answer, and members that have their keys.
TEST_F(RefusedPartitions, ASwitchThatRebootsWithoutAnsweringSwitchInfoIsSaidToLetEverythingPass) {
  start(blue());
  auto attributes = kAllButPKeys;
  std::erase(attributes, wire::SwitchInfo::kAttribute);
  attributes.push_back(wire::PKeyTable::kAttribute);
  ASSERT_TRUE(world_.fabric().faults().answers_only("leaf1", attributes));
  world_.fabric().faults().reboot("leaf1", std::chrono::milliseconds(100));
  run(std::chrono::seconds(10));
  ASSERT_EQ(bits("leaf1", 1), std::pair(false, false));
  EXPECT_THAT(smd().lines().first("partition.not_enforced"),
              testing::AllOf(testing::HasSubstr("name=leaf1"),
                             testing::HasSubstr("the switch does not answer SwitchInfo"),
                             testing::HasSubstr("lets packets of all partitions pass")));
  EXPECT_EQ(smd().last().decided.partitions->not_enforced.size(), 2U) << "of h1 and of h2";

  world_.fabric().faults().answers_only("leaf1", {});
  run(std::chrono::minutes(1));
  EXPECT_EQ(bits("leaf1", 1), std::pair(true, true));
  EXPECT_THAT(smd().last().decided.partitions->not_enforced, testing::IsEmpty());
  EXPECT_EQ(smd().last().summary.state, sm::SweepState::up) << smd().last().summary.why;
}

/// The switch before the SM: all the fabric would be cut off.
TEST_F(RefusedPartitions, ASwitchWhoseTablesAreNeverAnsweredIsNotKeptOut) {
  start(blue());
  ASSERT_TRUE(world_.fabric().faults().answers_only("leaf0", kAllButPKeys));
  world_.fabric().faults().reboot("leaf0", std::chrono::milliseconds(100));
  run(std::chrono::minutes(2));

  for (const auto* host : {"h1", "h2"})
    EXPECT_EQ(world_.fabric().state().ports[index(host, 1)].info.port_state, PortState::active)
        << host << testing::PrintToString(smd().lines().all);
}

}  // namespace
}  // namespace smd
