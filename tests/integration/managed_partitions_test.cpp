// SPDX-License-Identifier: Apache-2.0
// Partitions of the configuration on a simulated fabric.
#include "tests/support/managed_partitions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/partition_config.h"
#include "tests/support/sim_lab.h"
#include "tests/support/store_lab.h"

namespace smd {
namespace {

using test::ManagedPartitions;
using test::partition;
using test::with_partitions;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr PKey kLimited{0x7fff};

TEST_F(ManagedPartitions, AreWrittenBeforePortsGoActive) {
  watch();
  start(blue());

  EXPECT_EQ(smd().last().summary.state, sm::SweepState::up);
  EXPECT_THAT(keys("h0", 1), ElementsAre(kDefaultPKey));
  EXPECT_THAT(keys("h1", 1), ElementsAre(kLimited, PKey{0x8012}));
  EXPECT_THAT(keys("h2", 1), ElementsAre(kLimited, PKey{0x12}));
  EXPECT_THAT(keys("leaf1", 1), ElementsAre(kLimited, PKey{0x8012}));
  EXPECT_EQ(bits("leaf1", 1), std::pair(true, true));
  EXPECT_EQ(bits("leaf1", 3), std::pair(false, false)) << "the link leads to a switch";
  EXPECT_EQ(smd().lines().count("partition.managed"), 1U);
  // h1, h2, their switch ports, and port 0 of three switches; h0 and its switch port are as they should be.
  EXPECT_EQ(written().size(), 7U) << testing::PrintToString(written());
  // Ports 0 of switches are in service from the start, and lose a membership: those come last.
  const auto port_info = std::ranges::find(sets_, wire::PortInfo::kAttribute, &sim::DoneSet::attribute);
  EXPECT_EQ(std::count_if(sets_.begin(), port_info,
                          [](const auto& set) { return set.attribute == wire::PKeyTable::kAttribute; }),
            4);
}

TEST_F(ManagedPartitions, ASecondSweepSetsNothing) {
  start(blue());
  watch();
  smd()->requests().resweep(sm::Resweep::heavy, "test");
  run();
  EXPECT_THAT(sets_, IsEmpty());
}

TEST_F(ManagedPartitions, ASingleChangeIsTwoSetsInTheSafeOrder) {
  start(blue());
  watch();
  auto config = blue();
  config.partition[0].full = test::port_terms({"h1", "h2"});
  config.partition[0].limited.clear();
  reload(config);
  EXPECT_EQ(sets_.size(), 2U);
  EXPECT_THAT(written(), ElementsAre("leaf1", "h2"));
  EXPECT_THAT(keys("h2", 1), ElementsAre(kLimited, PKey{0x8012}));

  config.partition[0].full = test::port_terms({"h1"});
  reload(config);
  EXPECT_EQ(sets_.size(), 2U);
  EXPECT_THAT(written(), ElementsAre("h2", "leaf1"));
  EXPECT_THAT(keys("h2", 1), ElementsAre(kLimited));
  EXPECT_EQ(smd().lines().count("reason=reload"), 0U) << "no sweep";
}

TEST_F(ManagedPartitions, TheSameConfigurationWritesNothing) {
  start(blue());
  watch();
  reload(blue());
  EXPECT_THAT(sets_, IsEmpty());
}

TEST_F(ManagedPartitions, EnforcementIsTurnedOffAndOnWhilePortsAreActive) {
  start(blue());
  watch();
  auto config = blue();
  config.partitions.enforcement = config::Enforcement::off;
  reload(config);
  EXPECT_EQ(bits("leaf1", 1), std::pair(false, false));
  EXPECT_EQ(sets(wire::PKeyTable::kAttribute), 0U);
  EXPECT_EQ(sets(wire::PortInfo::kAttribute), 3U) << "ports next to hosts";

  config.partitions.enforcement = config::Enforcement::in;
  reload(config);
  EXPECT_EQ(bits("leaf1", 1), std::pair(true, false));
}

TEST_F(ManagedPartitions, KeysThatAnotherProgramChangesAreSetRight) {
  start(blue());
  world_.fabric().faults().set_p_key({"h2", PortNum{1}}, 1, PKey{0x8012});
  world_.fabric().faults().set_p_key({"h2", PortNum{1}}, 2, PKey{0x8012});
  smd()->requests().resweep(sm::Resweep::heavy, "test");
  run(std::chrono::seconds(5));
  EXPECT_THAT(keys("h2", 1), ElementsAre(kLimited, PKey{0x12}));
  EXPECT_EQ(smd().last().summary.state, sm::SweepState::up);
}

TEST_F(ManagedPartitions, ARebootedHostGetsItsKeysAtTheirIndexes) {
  auto config = with_partitions({partition("red", 0x11, {"h2"}), partition("blue", 0x12, {"h2"})});
  start(config);
  ASSERT_THAT(keys("h2", 1), ElementsAre(kLimited, PKey{0x8011}, PKey{0x8012}));
  config.partition[0].full.clear();
  reload(config);
  world_.fabric().faults().reboot("h2", std::chrono::milliseconds(100));
  run();
  EXPECT_THAT(keys("h2", 1), ElementsAre(kLimited, PKey{}, PKey{0x8012}));
}

/// As opensm leaves it where ports may have both keys. The key of a port in service does not move by itself.
TEST_F(ManagedPartitions, AnEmptyIndex0OfAPortInServiceIsNamed) {
  start(blue());
  EXPECT_EQ(smd().lines().count("partition.index0_empty"), 0U);
  end();
  auto faults = world_.fabric().faults();
  ASSERT_TRUE(faults.set_p_key({"h2", PortNum{1}}, 0, PKey{}));
  ASSERT_TRUE(faults.set_p_key({"h2", PortNum{1}}, 2, kLimited));
  start(blue());

  EXPECT_THAT(keys("h2", 1), ElementsAre(PKey{}, PKey{0x12}, kLimited));
  EXPECT_EQ(smd().lines().count("partition.index0_empty"), 1U);
  EXPECT_THAT(smd().lines().first("partition.index0_empty"), AllOf(HasSubstr("h2"), HasSubstr("ports=1")));
}

TEST_F(ManagedPartitions, IndexesSurviveTheProcess) {
  store::MemoryStore store;
  auto config = with_partitions({partition("red", 0x11, {"h2"}), partition("blue", 0x12, {"h2"})});
  start(config, &store);
  end();
  group_.reset();
  smd_.reset();
  for (const auto* node : {"h2", "leaf1"}) world_.fabric().faults().reboot(node);
  config.partition[0].full.clear();
  start(config, &store);
  EXPECT_THAT(keys("h2", 1), ElementsAre(kLimited, PKey{}, PKey{0x8012}));
}

TEST_F(ManagedPartitions, AMemberThatComesLaterGetsItsKeyBeforeItIsActive) {
  world_.fabric().faults().remove("h2");
  start(blue());
  const auto& pending = smd().last().decided.partitions->partitions.front().pending;
  ASSERT_EQ(pending.size(), 1U);
  watch();
  world_.fabric().faults().restore("h2");
  run();
  EXPECT_THAT(keys("h2", 1), ElementsAre(kLimited, PKey{0x12}));
  EXPECT_TRUE(smd().last().decided.partitions->partitions.front().pending.empty());
}

TEST_F(ManagedPartitions, AFullTableIsNamedAndTheRestIsWritten) {
  std::vector<config::ConfiguredPartition> many;
  for (std::uint16_t i = 0; i < 40; ++i) many.push_back(partition(fmt::format("p{}", i), 0x100 + i, {"h1"}));
  start(with_partitions(many));
  EXPECT_EQ(keys("h1", 1).size(), 41U);
  // The switch's port has room for 32 keys.
  EXPECT_EQ(bits("leaf1", 1), std::pair(false, false));
  EXPECT_THAT(smd().lines().first("partition.not_enforced"),
              AllOf(HasSubstr("name=leaf1 port=1"), HasSubstr("capacity=32 pkeys=41")));
  EXPECT_EQ(smd().last().summary.state, sm::SweepState::reduced);
  EXPECT_THAT(smd().last().summary.why, HasSubstr("1 port of switches lets packets of all partitions pass"));
}

TEST_F(ManagedPartitions, TheStateFollowsWhatAReloadMakesOfRoomAndEnforcement) {
  start(blue());
  ASSERT_EQ(smd().last().summary.state, sm::SweepState::up);
  std::vector<config::ConfiguredPartition> many;
  for (std::uint16_t i = 0; i < 40; ++i) many.push_back(partition(fmt::format("p{}", i), 0x100 + i, {"h1"}));
  reload(with_partitions(many));
  EXPECT_EQ(smd().last().summary.state, sm::SweepState::reduced);
  EXPECT_THAT(smd().last().summary.why, HasSubstr("1 port of switches lets packets of all partitions pass"));

  reload(blue());
  EXPECT_EQ(smd().last().summary.state, sm::SweepState::up) << smd().last().summary.why;
  EXPECT_EQ(smd().lines().count("reason=reload"), 0U) << "no sweep";
}

TEST_F(ManagedPartitions, WhereEnforcementIsRequiredTheLinkStaysArmed) {
  std::vector<config::ConfiguredPartition> many;
  for (std::uint16_t i = 0; i < 40; ++i) many.push_back(partition(fmt::format("p{}", i), 0x100 + i, {"h1"}));
  auto config = with_partitions(many);
  config.partitions.enforcement_required = true;
  start(config);
  const auto state = [&] { return world_.fabric().state().ports[index("h1", 1)].info.port_state; };
  EXPECT_EQ(state(), PortState::armed);
  EXPECT_EQ(world_.fabric().state().ports[index("h2", 1)].info.port_state, PortState::active);
  EXPECT_THAT(smd().lines().first("port.not_active"), HasSubstr("partitions.enforcement_required"));

  config.sweep.interval = std::chrono::seconds(100);
  smd()->requests().reload(config);
  run(std::chrono::seconds(2));
  config.partition.resize(20);
  smd()->requests().reload(std::move(config));
  run(std::chrono::milliseconds(500));
  EXPECT_EQ(state(), PortState::active) << "it is enforceable now";
}

TEST_F(ManagedPartitions, TheFirstPartitionTakesOverAndForeignKeysStay) {
  start({});
  world_.fabric().faults().set_p_key({"h2", PortNum{1}}, 3, PKey{0x8055});
  smd()->requests().resweep(sm::Resweep::heavy, "test");
  run();
  ASSERT_THAT(keys("h1", 1), ElementsAre(kDefaultPKey));
  reload(blue());
  EXPECT_THAT(keys("h1", 1), ElementsAre(kLimited, PKey{0x8012}));
  smd()->requests().resweep(sm::Resweep::heavy, "test");
  run();
  EXPECT_THAT(keys("h2", 1), ElementsAre(kLimited, PKey{0x12}, PKey{}, PKey{0x8055}));
}

/// Whether data packets pass, by membership and by what switches enforce.
TEST_F(ManagedPartitions, PacketsPassAsTheTruthTableSays) {
  using enum config::Enforcement;
  for (const auto mode : {both, in, out, off}) {
    auto config = with_partitions({partition("ff", 0x1, {"h1", "h2"}), partition("fl", 0x2, {"h1"}, {"h2"}),
                                   partition("ll", 0x3, {}, {"h1", "h2"}), partition("one", 0x4, {"h1"})});
    config.partitions.enforcement = mode;
    if (!smd_) start(config);
    reload(config);
    const auto lid = world_.fabric().state().ports[index("h2", 1)].info.lid;
    const auto passes = [&](unsigned key) {
      const PKey pkey{static_cast<std::uint16_t>(key)};
      return world_.fabric().walk({"h1", PortNum{1}}, lid, Sl{}, pkey);
    };
    EXPECT_TRUE(passes(0x8001).delivered());
    EXPECT_TRUE(passes(0x8002).delivered());
    EXPECT_FALSE(passes(0x0003).delivered()) << "limited to limited";
    const auto refused = passes(0x8004);
    EXPECT_FALSE(refused.delivered());
    // `in` and `off`: h2 refuses it itself, because it comes in at leaf1 with a key that h1 has.
    EXPECT_EQ(refused.end == index("h2", 1), mode == in || mode == off) << static_cast<int>(mode);
    const auto forged = passes(0x8077);
    EXPECT_FALSE(forged.delivered());
  }
}

TEST_F(ManagedPartitions, TheKeysOfTheLastPartitionGoWithIt) {
  start(blue());
  reload({});

  EXPECT_THAT(keys("h1", 1), ElementsAre(kLimited));
  EXPECT_THAT(keys("h2", 1), ElementsAre(kLimited));
  EXPECT_THAT(keys("leaf1", 1), ElementsAre(kLimited));
  EXPECT_THAT(keys("h0", 1), ElementsAre(kDefaultPKey));
}

TEST_F(ManagedPartitions, KeysThatGoInAHeavySweepAreNoChangeOfOthers) {
  start(blue());
  config::SubnetConfig without;
  without.sweep.interval = std::chrono::seconds(1);
  smd()->requests().reload(std::move(without));
  smd()->requests().resweep(sm::Resweep::heavy, "test");
  run();

  EXPECT_THAT(keys("h1", 1), ElementsAre(kLimited));
  EXPECT_EQ(smd().lines().count("changed externally"), 0U) << testing::PrintToString(smd().lines().all);
  EXPECT_EQ(smd().last().summary.state, sm::SweepState::up) << smd().last().summary.why;
}

TEST_F(ManagedPartitions, EachChangeOfIndex0OfAPortInServiceHasALine) {
  auto config = with_partitions({partition("blue", 0x12, {"h1"}), partition("red", 0x13, {"h1"})});
  start(config);
  for (std::size_t change = 0; change < 6; ++change) {
    for (std::size_t i = 0; i < 2; ++i)
      config.partition[i].members = {{.ports = test::port_terms({"h1"}),
                                      .membership = config::Membership::full,
                                      .index0 = i == change % 2}};
    reload(config);
  }
  EXPECT_EQ(smd().lines().count("partition.index0"), 6U) << testing::PrintToString(smd().lines().all);
}

TEST_F(ManagedPartitions, APortThatHasOneOfBothKeysNoMoreHasTheOtherOneAtIndex0) {
  auto config = with_partitions({partition("all", 0x7fff, {}, {"ALL"})});
  config.partitions.allow_both_pkeys = true;
  config.partition[0].both = test::port_terms({"h1"});
  start(config);
  ASSERT_THAT(keys("h1", 1), ElementsAre(kDefaultPKey, kLimited));
  config.partition[0].both.clear();
  reload(config);
  EXPECT_THAT(keys("h1", 1), ElementsAre(kLimited));
  EXPECT_THAT(smd().lines().first("partition.index0"),
              AllOf(HasSubstr("was=0xffff"), HasSubstr("is=0x7fff"), HasSubstr("keeps this one alone")));
}

/// Another SM has made all ports but its own limited members of the default partition.
TEST_F(ManagedPartitions, TheFirstPartitionOfTheApiOpensNoFabric) {
  for (const auto* host : {"h1", "h2"}) world_.fabric().faults().set_p_key({host, PortNum{1}}, 0, kLimited);
  start({});
  auto definition = config::PartitionDefinition{.name = "red", .pkey = 0x70};
  definition.source.origin = config::PolicyOrigin::api;
  definition.members.push_back({.ports = {test::port_terms({"h1"})}, .membership = config::Membership::full});
  auto policies = std::make_shared<policy::Policies>();
  policies->api.emplace("red", std::make_shared<const config::PartitionDefinition>(definition));
  smd()->requests().set_policies(policies);
  run();

  EXPECT_THAT(keys("h0", 1), ElementsAre(kDefaultPKey));
  EXPECT_THAT(keys("h1", 1), ElementsAre(kLimited, PKey{0x8070}));
  EXPECT_THAT(keys("h2", 1), ElementsAre(kLimited));
  world_.fabric().faults().reboot("h2");
  run();
  EXPECT_THAT(keys("h2", 1), ElementsAre(kLimited)) << "after a reboot too";
  smd()->requests().set_policies(std::make_shared<const policy::Policies>());
  run();
  EXPECT_THAT(keys("h1", 1), ElementsAre(kLimited));
  EXPECT_THAT(keys("h2", 1), ElementsAre(kLimited));
}

/// On a port in service: a program of its own has written there.
TEST_F(ManagedPartitions, AKeyThatWasOverwrittenGoesBackToItsIndex) {
  start(blue());
  world_.fabric().faults().set_p_key({"h1", PortNum{1}}, 0, PKey{0x8099});
  smd()->requests().resweep(sm::Resweep::heavy, "test");
  run();
  EXPECT_THAT(keys("h1", 1), ElementsAre(kLimited, PKey{0x8012}));
}

TEST_F(ManagedPartitions, ViolationsAreALineAMinuteForEachSourceAndKey) {
  start(blue());
  const auto sweeps = smd().lines().count(" sweep ");
  const auto lid = world_.fabric().state().ports[index("h0", 1)].info.lid;
  world_.fabric().faults().set_p_key({"h1", PortNum{1}}, 5, PKey{0x8077});
  for (int i = 0; i < 20; ++i) {
    for (const unsigned key : {0x8077U, 0x8012U})
      world_.fabric().send_data({"h1", PortNum{1}},
                                {.dlid = lid, .pkey = PKey{static_cast<std::uint16_t>(key)}});
    run(std::chrono::milliseconds(100));
  }

  EXPECT_EQ(smd().lines().count("partition.violation"), 2U) << testing::PrintToString(smd().lines().all);
  EXPECT_THAT(smd().lines().first("pkey=0x8077"),
              AllOf(HasSubstr("h1 port 1"), HasSubstr("h0 port 1"), HasSubstr("0x8077"),
                    HasSubstr("leaf1 port 1"), HasSubstr("share=0xffff")));
  EXPECT_EQ(smd().lines().count(" sweep "), sweeps);
  // What `smd status` counts goes on without a sweep.
  const auto activity = smd()->activity();
  EXPECT_GE(activity->violations.pkey + activity->violations.at_switch, 2U);
  EXPECT_GE(activity->traps, 2U);
}

}  // namespace
}  // namespace smd
