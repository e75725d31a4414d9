// SPDX-License-Identifier: Apache-2.0
// Partitions of the configuration on a simulated fabric.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mad/sim/state/tables.h"
#include "smd/api/json_in.h"
#include "smd/api/router.h"
#include "tests/support/api_backend.h"
#include "tests/support/managed_world.h"
#include "tests/support/partition_config.h"
#include "tests/support/sim_lab.h"
#include "tests/support/store_lab.h"

namespace smd {
namespace {

using test::Managed;
using test::partition;
using test::with_partitions;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr PKey kLimited{0x7fff};

/// two_leaves() with smd on h0; h1 and h2 are on leaf1.
class ManagedPartitions : public testing::Test {
 protected:
  void start(config::SubnetConfig config, store::Store* store = nullptr) {
    config.sweep.interval = std::chrono::seconds(1);
    smd_.emplace(world_, sim::Place{"h0"}, config, sm::ManagerOptions{}, store);
    group_.emplace(world_.io().get_executor());
    group_->spawn((*smd_)->run());
    run();
  }
  void reload(config::SubnetConfig config) {
    config.sweep.interval = std::chrono::seconds(1);
    sets_.clear();
    (*smd_)->requests().reload(std::move(config));
    run();
  }
  void run(sim::Duration time = std::chrono::seconds(3)) { world_.run_for(time); }
  void end() { world_.run(group_->stop()); }
  void TearDown() override {
    if (group_) end();
  }
  sim::PortIndex index(std::string_view node, unsigned port) {
    const auto& state = world_.fabric().state();
    return state.index(state.nodes[*sim::find_node(state, node)], port);
  }
  /// Without the free entries at the end.
  std::vector<PKey> keys(std::string_view node, unsigned port) {
    const auto& state = world_.fabric().state();
    std::vector<PKey> keys;
    for (unsigned i = 0; i < sim::pkey_capacity(state, index(node, port)); ++i)
      keys.push_back(sim::p_key(state, index(node, port), i));
    while (!keys.empty() && keys.back() == PKey{}) keys.pop_back();
    return keys;
  }
  std::pair<bool, bool> bits(std::string_view node, unsigned port) {
    const auto& info = world_.fabric().state().ports[index(node, port)].info;
    return {info.partition_enforce_in, info.partition_enforce_out};
  }
  void watch() {
    world_.fabric().watch_sets([this](const sim::DoneSet& set) { sets_.push_back(set); });
  }
  std::size_t sets(std::uint16_t attribute) const {
    return static_cast<std::size_t>(std::ranges::count(sets_, attribute, &sim::DoneSet::attribute));
  }
  /// Of the Sets of P_Key tables: the nodes that they went to.
  std::vector<std::string> written() {
    std::vector<std::string> names;
    const auto& state = world_.fabric().state();
    for (const auto& set : sets_) {
      if (set.attribute == wire::PKeyTable::kAttribute)
        names.push_back(state.nodes[state.ports[set.at].node].name);
    }
    return names;
  }
  Managed& smd() { return *smd_; }
  config::SubnetConfig blue() const { return with_partitions({partition("blue", 0x12, {"h1"}, {"h2"})}); }

  sim::World world_{test::two_leaves()};
  std::optional<Managed> smd_;
  std::optional<mad::TaskGroup> group_;
  std::vector<sim::DoneSet> sets_;  ///< that nodes have executed since the last reload
};

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

TEST_F(ManagedPartitions, APortThatDoesNotAnswerItsSetGetsItLater) {
  start(blue());
  auto config = blue();
  config.partition[0].full = test::port_terms({"h1", "h2"});
  world_.fabric().faults().silent("h2");
  world_.at(world_.now() + std::chrono::seconds(2),
            [](sim::Fabric& fabric) { fabric.faults().silent("h2", false); });
  reload(config);
  run(std::chrono::seconds(10));
  EXPECT_THAT(keys("h2", 1), ElementsAre(kLimited, PKey{0x8012}));
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

/// With its table unread it had the full key that a reset leaves, for good, and its switch let everything
/// pass.
TEST_F(ManagedPartitions, AHostWhoseTableIsNotAnsweredIsNotOpenMeanwhile) {
  start(blue());
  const auto state = [&] { return world_.fabric().state().ports[index("h1", 1)].info.port_state; };
  ASSERT_EQ(state(), PortState::active);
  ASSERT_TRUE(world_.fabric().faults().answers_only(
      "h1", {wire::NodeInfo::kAttribute, wire::NodeDescription::kAttribute, wire::PortInfo::kAttribute,
             wire::GuidInfo::kAttribute, wire::SlToVl::kAttribute, wire::VlArbitration::kAttribute}));
  world_.fabric().faults().reboot("h1", std::chrono::milliseconds(100));
  run(std::chrono::seconds(10));
  EXPECT_TRUE(state() != PortState::active || bits("leaf1", 1) == std::pair(true, true));
  EXPECT_THAT(keys("leaf1", 1), ElementsAre(kLimited, PKey{0x8012}));
  EXPECT_NE(smd().last().summary.state, sm::SweepState::up);

  world_.fabric().faults().answers_only("h1", {});
  run(std::chrono::minutes(1));
  EXPECT_EQ(state(), PortState::active);
  EXPECT_THAT(keys("h1", 1), ElementsAre(kLimited, PKey{0x8012}));
  EXPECT_EQ(bits("leaf1", 1), std::pair(true, true));
  EXPECT_EQ(smd().last().summary.state, sm::SweepState::up) << smd().last().summary.why;
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

/// Its members have their keys: nothing stops their packets.
TEST_F(ManagedPartitions, ASwitchThatDoesNotKeepItsBitsIsNamedWhereItMustEnforce) {
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

TEST_F(ManagedPartitions, ASwitchThatRefusesItsTableLetsItsHostsIn) {
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

TEST_F(ManagedPartitions, ASwitchThatRefusesItsTableKeepsHostsOutWhereItMustEnforce) {
  world_.fabric().faults().refuses("leaf1", wire::PKeyTable::kAttribute, 0x001C);
  auto config = blue();
  config.partitions.enforcement_required = true;
  start(config);

  EXPECT_NE(world_.fabric().state().ports[index("h1", 1)].info.port_state, PortState::active);
  EXPECT_EQ(smd().last().summary.state, sm::SweepState::degraded);
}

/// Its switch port takes no packets with it any more.
TEST_F(ManagedPartitions, AHostThatRefusesToLoseAKeyLosesItAtItsSwitch) {
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
TEST_F(ManagedPartitions, AMemberIsProgrammedOnceItsSwitchLetsTheKeyPass) {
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
