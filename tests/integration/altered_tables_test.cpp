// SPDX-License-Identifier: Apache-2.0
// P_Key and VL tables of another SM: who loses them by a restart, and who changes them externally.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "smd/apply/table_baseline.h"
#include "smd/decide/port_keys.h"
#include "smd/report/tables.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Managed;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// ft2:4 that another SM has partitioned: h00005 to h00007 have 0x8001 at index 1. smd takes it over.
class AlteredTables : public testing::Test {
 protected:
  AlteredTables()
      : fabric_(test::spec("ft2:4")), world_(fabric_), manager_(world_), group_(world_.io().get_executor()) {}
  ~AlteredTables() override { world_.run(group_.stop()); }

  void partition() {
    for (const auto* host : {"h00005", "h00006", "h00007"}) key(host, 1, 0x8001);
  }
  void begin() {
    group_.spawn(manager_->run());
    world_.run_for(5s);
    ASSERT_EQ(state(), sm::SweepState::up);
  }
  void key(const std::string& host, unsigned index, unsigned value) {
    ASSERT_TRUE(faults().set_p_key({host, PortNum{1}}, index, PKey{static_cast<std::uint16_t>(value)}));
  }
  sim::Faults faults() { return world_.fabric().faults(); }
  sm::SweepState state() { return manager_.last().summary.state; }
  std::string why() { return manager_.last().summary.why; }
  const std::vector<sm::AlteredTable>& altered() { return manager_.last().subnet->altered; }
  std::string line(const std::string& what) { return manager_.lines().first(what); }
  std::size_t lines(const std::string& what) { return manager_.lines().count(what); }
  PKey key_of(const std::string& name, unsigned index) {
    for (const auto& node : manager_.last().subnet->nodes) {
      if (node->description == name) return node->ports[1].held<wire::PKeyTable>()->row[0].keys[index];
    }
    return {};
  }

  base::Fabric fabric_;
  sim::World world_;
  Managed manager_;
  mad::TaskGroup group_;
};

TEST_F(AlteredTables, AFabricWithoutPartitionsHasNothingToSay) {
  begin();
  faults().reboot("h00005");
  faults().reboot("leaf003");
  world_.run_for(60s);

  EXPECT_EQ(state(), sm::SweepState::up) << why();
  EXPECT_EQ(sm::foreign_keys(*manager_.last().subnet).ports, 0U);
  for (const auto* event : {"partition.", "node.changed", "node.restored"})
    EXPECT_EQ(lines(event), 0U) << event;
}

/// An SM has put all SLs on VL 0, and the switch is made with SLs that are spread over its VLs.
TEST_F(AlteredTables, AnotherPlainVlTableAfterARestartIsNoLoss) {
  const sim::Place place{"leaf003", PortNum{1}};
  for (std::uint8_t sl = 0; sl < 16; ++sl) {
    for (std::uint8_t in = 0; in < 5; ++in) faults().set_sl_to_vl(place, PortNum{in}, Sl{sl}, Vl{0});
  }
  wire::VlArbitration low;
  low.entries[0] = {Vl{0}, 64};
  faults().set_vl_arbitration(place, 1, low);
  begin();
  faults().reboot("leaf003");
  world_.run_for(60s);

  EXPECT_EQ(state(), sm::SweepState::up) << why();
  EXPECT_TRUE(altered().empty());
  for (const auto* event : {"node.changed", "node.restored"}) EXPECT_EQ(lines(event), 0U) << event;
}

TEST_F(AlteredTables, KeysOfAnotherSmAreNamedAtATakeover) {
  partition();
  key("h00005", 0, 0x7FFF);
  begin();
  world_.run_for(30s);

  EXPECT_EQ(lines("partition.foreign_keys"), 1U);
  EXPECT_THAT(line("partition.foreign_keys"), AllOf(HasSubstr("ports=3"), HasSubstr("pkeys=0x7fff,0x8001")));
  EXPECT_EQ(sm::foreign_keys(*manager_.last().subnet).ports, 3U);
}

TEST_F(AlteredTables, AHostThatLosesItsKeysByARebootGetsThemBack) {
  partition();
  begin();
  faults().reboot("h00006", 3s);
  world_.run_for(20s);

  EXPECT_EQ(lines("partition.keys_lost"), 1U);
  EXPECT_THAT(line("partition.keys_lost"),
              AllOf(HasSubstr("h00006"), HasSubstr("index 1 0x8001, now 0x0000"), HasSubstr("restart")));
  EXPECT_THAT(line("partition.restored"), AllOf(HasSubstr("h00006"), HasSubstr("pkeys=0xffff,0x8001")));
  EXPECT_EQ(key_of("h00006", 1), PKey{0x8001});
  EXPECT_EQ(state(), sm::SweepState::up) << why();
  EXPECT_TRUE(altered().empty());
  EXPECT_EQ(sm::foreign_keys(*manager_.last().subnet).ports, 3U);

  manager_->requests().resweep(sm::Resweep::heavy, "test");
  world_.run_for(60s);
  EXPECT_EQ(state(), sm::SweepState::up) << why();
  EXPECT_EQ(lines("partition.restored"), 1U);
  EXPECT_EQ(lines("node.changed"), 0U);
}

/// opensm leaves index 0 empty where all ports are limited members and may have both keys. Nothing was lost.
TEST_F(AlteredTables, AnEmptyIndex0ThatGetsAKeyAfterAFlapIsNoRestoredTable) {
  key("h00005", 0, 0);
  key("h00005", 1, 0x8001);
  key("h00005", 2, 0xFFFF);
  begin();
  ASSERT_EQ(key_of("h00005", 0), PKey{});
  faults().link_down({"h00005", PortNum{1}});
  world_.run_for(3s);
  faults().link_up({"h00005", PortNum{1}});
  world_.run_for(20s);

  EXPECT_EQ(key_of("h00005", 0), kDefaultPKey);
  EXPECT_EQ(lines("partition.restored"), 0U) << line("partition.restored");
  EXPECT_EQ(lines("partition.index0"), 1U);
  EXPECT_THAT(line("partition.index0"),
              AllOf(HasSubstr("h00005"), HasSubstr("was=0x0000"), HasSubstr("is=0xffff")));
}

/// A host's link may come up long after its switch is back.
TEST_F(AlteredTables, APortOfARebootedSwitchThatGetsItsLinkLaterIsNotChangedExternally) {
  partition();
  ASSERT_TRUE(faults().set_p_key({"leaf002", PortNum{2}}, 1, PKey{0x8001}));
  begin();
  faults().reboot("leaf002", 3s);
  faults().link_down({"h00005", PortNum{1}});
  world_.run_for(15s);
  faults().link_up({"h00005", PortNum{1}});
  world_.run_for(15s);

  EXPECT_EQ(lines("node.changed"), 0U) << line("node.changed");
  EXPECT_EQ(state(), sm::SweepState::up) << why();
}

TEST_F(AlteredTables, KeysThatAreChangedExternallyDegradeUntilTheyAreAsBefore) {
  partition();
  begin();
  key("h00005", 1, 0x0001);
  world_.run_for(25s);

  EXPECT_THAT(line("node.changed"),
              AllOf(HasSubstr("h00005"), HasSubstr("table=P_KeyTable"),
                    HasSubstr("index 1 0x8001, now 0x0001"), HasSubstr("changed externally")));
  EXPECT_EQ(state(), sm::SweepState::degraded);
  EXPECT_EQ(why(), "1 table of a port changed externally");

  key("h00005", 1, 0x8001);
  world_.run_for(25s);
  EXPECT_EQ(state(), sm::SweepState::up) << why();
  EXPECT_EQ(lines("node.restored"), 1U);
  EXPECT_EQ(lines("partition.keys_lost"), 0U);
}

TEST_F(AlteredTables, VlTablesThatAreChangedExternallyDegradeUntilTheyAreAsBefore) {
  begin();
  ASSERT_TRUE(faults().set_sl_to_vl({"leaf002", PortNum{3}}, PortNum{1}, Sl{0}, Vl{15}));
  ASSERT_TRUE(faults().set_sl_to_vl({"h00004", PortNum{1}}, PortNum{0}, Sl{5}, Vl{2}));
  world_.run_for(120s);

  EXPECT_EQ(state(), sm::SweepState::degraded);
  EXPECT_EQ(why(), "2 tables of ports changed externally");
  std::vector<std::string> entries;
  for (const auto& table : altered()) entries.push_back(table.entries);
  EXPECT_THAT(entries,
              testing::UnorderedElementsAre("from port 1 SL 0 VL 0, now VL 15", "SL 5 VL 5, now VL 2"));
  EXPECT_EQ(lines("node.changed"), 2U);

  ASSERT_TRUE(faults().set_sl_to_vl({"leaf002", PortNum{3}}, PortNum{1}, Sl{0}, Vl{0}));
  ASSERT_TRUE(faults().set_sl_to_vl({"h00004", PortNum{1}}, PortNum{0}, Sl{5}, Vl{5}));
  world_.run_for(25s);
  EXPECT_EQ(state(), sm::SweepState::up) << why();
  EXPECT_EQ(lines("node.restored"), 2U);
}

/// Each look goes on where the last one ended: 32 of the 100 tables of a leaf.
TEST(AlteredVlTables, OfASwitchAreFoundInMinutesWhereverTheyAre) {
  sim::World world(test::spec("ft2:8"));
  Managed manager(world);
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(manager->run());
  world.run_for(10s);
  ASSERT_TRUE(world.fabric().faults().set_sl_to_vl({"leaf005", PortNum{7}}, PortNum{6}, Sl{3}, Vl{0}));
  ASSERT_TRUE(world.fabric().faults().set_p_key({"h00030", PortNum{1}}, 1, PKey{0x8001}));

  world.run_for(100s);

  EXPECT_EQ(manager.last().summary.state, sm::SweepState::degraded);
  EXPECT_EQ(manager.last().summary.why, "2 tables of ports changed externally");
  EXPECT_THAT(manager.lines().first("table=SLtoVLMappingTable"),
              AllOf(HasSubstr("leaf005"), HasSubstr("from port 6 SL 3 VL 3, now VL 0")));
  world.run(group.stop());
}

/// Another SM has given h00006 keys and lets leaf003 enforce them at its port.
class EnforcedKeys : public AlteredTables {
 protected:
  EnforcedKeys() {
    key("h00006", 0, 0x7FFF);
    key("h00006", 2, 0x8005);
    key_at_switch(kPort, 0, 0x7FFF);
    key_at_switch(kPort, 1, 0x8005);
    faults().enforce_p_keys({"leaf003", kPort}, true, false);
  }
  void key_at_switch(PortNum port, unsigned index, unsigned value) {
    ASSERT_TRUE(faults().set_p_key({"leaf003", port}, index, PKey{static_cast<std::uint16_t>(value)}));
  }
  /// Keys of leaf003's port, and the two bits: "0x7fff,0x8005 in".
  std::string enforced(PortNum num) {
    for (const auto& node : manager_.last().subnet->nodes) {
      if (node->description != "leaf003") continue;
      const auto& port = node->ports[num.value()];
      std::string text;
      for (const auto key : port.held<wire::PKeyTable>()->row[0].keys) {
        if (key != PKey{}) text += fmt::format("{}{}", text.empty() ? "" : ",", key);
      }
      return fmt::format("{}{}{}", text, port.info.partition_enforce_in ? " in" : "",
                         port.info.partition_enforce_out ? " out" : "");
    }
    return {};
  }
  std::string keys(const std::string& name) {
    return fmt::format("{},{},{}", key_of(name, 0), key_of(name, 1), key_of(name, 2));
  }
  static constexpr PortNum kPort{1};  ///< of leaf003, to h00006
};

TEST_F(EnforcedKeys, AreThereAgainBeforeTheLinkIsActiveWhenTheSwitchHasRebooted) {
  begin();
  ASSERT_EQ(enforced(kPort), "0x7fff,0x8005 in");
  std::vector<std::uint16_t>
      sets;  // attributes set of kPort: its link may be the last of the switch that trains
  world_.fabric().watch_sets([&](const sim::DoneSet& set) {
    if (world_.fabric().state().node_of(set.at).name != "leaf003") return;
    const bool table = set.attribute == wire::PKeyTable::kAttribute;
    if ((table ? set.modifier >> 16U : set.modifier & 0xFFU) == kPort.value()) sets.push_back(set.attribute);
  });
  faults().reboot("leaf003", 2s);
  world_.run_for(60s);

  EXPECT_EQ(enforced(kPort), "0x7fff,0x8005 in");
  EXPECT_EQ(keys("h00006"), "0x7fff,0x0000,0x8005");
  EXPECT_EQ(state(), sm::SweepState::up) << why();
  const auto table = std::ranges::find(sets, wire::PKeyTable::kAttribute);
  const auto bits = std::ranges::find(sets, wire::PortInfo::kAttribute);
  ASSERT_NE(table, sets.end());
  ASSERT_NE(bits, sets.end());
  EXPECT_LT(table, bits) << "the table comes before what enforces it";
}

/// Without SwitchInfo their table cannot be written, and once the link is Active they would not come back.
TEST_F(EnforcedKeys, AreWaitedForWhereTheSwitchDoesNotAnswerSwitchInfo) {
  begin();
  const auto state_of = [&](PortNum num) {
    const auto& nodes = manager_.last().subnet->nodes;
    const auto leaf =
        std::ranges::find(nodes, std::string("leaf003"), [](const auto& node) { return node->description; });
    return leaf != nodes.end() ? (*leaf)->ports[num.value()].info.port_state : PortState::down;
  };
  faults().answers_only(
      "leaf003", {wire::NodeInfo::kAttribute, wire::NodeDescription::kAttribute, wire::PortInfo::kAttribute,
                  wire::PKeyTable::kAttribute, wire::SlToVl::kAttribute, wire::VlArbitration::kAttribute,
                  wire::LinearForwardingTable::kAttribute, wire::MulticastForwardingTable::kAttribute});
  faults().reboot("leaf003", 2s);
  world_.run_for(40s);

  EXPECT_EQ(state_of(kPort), PortState::init);
  EXPECT_EQ(state_of(PortNum{2}), PortState::active) << "a host of which nothing was enforced";
  EXPECT_THAT(line("partition.not_enforced"),
              AllOf(HasSubstr("name=leaf003"), HasSubstr("the switch does not answer SwitchInfo"),
                    HasSubstr("stays in Init")));
  faults().answers_only("leaf003", {});
  world_.run_for(60s);

  EXPECT_EQ(state_of(kPort), PortState::active);
  EXPECT_EQ(enforced(kPort), "0x7fff,0x8005 in");
  EXPECT_EQ(state(), sm::SweepState::up) << why();
}

/// The link is Active by then, and would let packets of all partitions pass for good.
TEST_F(EnforcedKeys, ComeBackOnceTheSwitchTakesThem) {
  begin();
  ASSERT_TRUE(faults().refuses("leaf003", wire::PKeyTable::kAttribute, 0x001C));
  faults().reboot("leaf003", 2s);
  world_.run_for(40s);
  EXPECT_EQ(state(), sm::SweepState::degraded) << why();
  ASSERT_TRUE(faults().refuses("leaf003", wire::PKeyTable::kAttribute, 0));
  manager_->requests().resweep(sm::Resweep::heavy, "test");
  world_.run_for(60s);

  EXPECT_EQ(enforced(kPort), "0x7fff,0x8005 in");
  EXPECT_EQ(state(), sm::SweepState::up) << why();
}

TEST_F(AlteredTables, ANewPortOfAPartitionedFabricIsALimitedMember) {
  for (const auto* host : {"h00001", "h00002", "h00003"}) key(host, 0, 0x7FFF);
  faults().remove("h00007");
  begin();
  faults().restore("h00007");
  world_.run_for(20s);

  EXPECT_EQ(key_of("h00007", 0), PKey{0x7FFF});
  EXPECT_THAT(line("partition.new_port"), AllOf(HasSubstr("h00007"), HasSubstr("pkey=0x7fff")));
  EXPECT_EQ(state(), sm::SweepState::up) << why();
}

TEST_F(AlteredTables, ANewPortOfAnOpenFabricIsLeftAlone) {
  faults().remove("h00007");
  begin();
  faults().restore("h00007");
  world_.run_for(20s);

  EXPECT_EQ(key_of("h00007", 0), kDefaultPKey);
  EXPECT_EQ(lines("partition.new_port"), 0U);
}

/// What is stored outlives smd; what ports in service hold when it is master again counts more.
TEST(ForeignKeys, OutliveSmd) {
  sim::World world(test::spec("ft2:4"));
  store::MemoryStore store;
  const auto key = [&](const std::string& host, unsigned index, unsigned value) {
    ASSERT_TRUE(world.fabric().faults().set_p_key({host, PortNum{1}}, index,
                                                  PKey{static_cast<std::uint16_t>(value)}));
  };
  key("h00005", 1, 0x8001);
  key("h00006", 1, 0x8001);
  {
    Managed first(world, {}, {}, &store);
    test::run_for(world, {&*first}, 10s);
  }
  ASSERT_EQ(store.loaded()->port_keys.size(), 14U);
  world.fabric().faults().reboot("h00005", 1s);
  key("h00006", 1, 0x8002);
  world.run_for(2s);
  Managed second(world, {}, {}, &store);
  test::run_for(world, {&*second}, 10s);

  EXPECT_THAT(second.lines().first("partition.restored"),
              AllOf(HasSubstr("h00005"), HasSubstr("0xffff,0x8001")));
  EXPECT_EQ(second.lines().count("partition.restored"), 1U);
  for (const auto& [guid, row] : store.loaded()->port_keys) {
    if (row.keys.size() == 2) EXPECT_THAT(row.keys[1].value(), testing::AnyOf(0x8001, 0x8002));
  }
}

TEST(ForeignKeys, OfAPortThatIsGoneForAMonthAreForgotten) {
  sim::World world(test::spec("ft2:4"));
  store::MemoryStore store;
  Managed smd(world, {}, {}, &store);
  test::run_for(world, {&*smd}, 10s);
  auto stored = *store.loaded();
  auto subnet = *smd.last().subnet;
  const auto now = stored.port_keys.begin()->second.seen;
  const auto gone = std::ranges::find(subnet.nodes, std::string("h00007"),
                                      [](const auto& node) { return node->description; });
  const auto guid = (*gone)->ports[1].guid;
  subnet.nodes.erase(gone);

  EXPECT_TRUE(sm::note_port_keys(stored, subnet, false, now + 29 * 24 * 3600));
  EXPECT_TRUE(stored.port_keys.contains(guid));
  EXPECT_FALSE(sm::note_port_keys(stored, subnet, false, now + 29 * 24 * 3600)) << "noted once a day";
  EXPECT_TRUE(sm::note_port_keys(stored, subnet, false, now + 30 * 24 * 3600 + 1));
  EXPECT_FALSE(stored.port_keys.contains(guid));
  EXPECT_EQ(stored.port_keys.size(), 13U);
}

/// Smd sets that key itself, so it is put right.
TEST_F(AlteredTables, TheSmsOwnPortIsMadeAFullMemberAgain) {
  begin();
  key("h00000", 0, 0x7FFF);
  world_.run_for(25s);

  EXPECT_EQ(key_of("h00000", 0), kDefaultPKey);
  EXPECT_EQ(state(), sm::SweepState::up) << why();
  EXPECT_TRUE(altered().empty());
}

TEST_F(AlteredTables, TablesOfAPortThatIsOutOfReachStayAltered) {
  partition();
  begin();
  key("h00005", 1, 0x8002);
  world_.run_for(25s);
  ASSERT_EQ(altered().size(), 1U);

  faults().refuses("h00005", wire::PKeyTable::kAttribute, 0x000C, false);
  manager_->requests().resweep(sm::Resweep::heavy, "test");
  world_.run_for(25s);
  EXPECT_EQ(altered().size(), 1U) << "what is not known now is as it was found last";
  EXPECT_EQ(lines("node.restored"), 0U);

  faults().remove("h00005");
  world_.run_for(25s);
  EXPECT_TRUE(altered().empty());
  EXPECT_EQ(lines("node.restored"), 0U) << "it is gone, not restored";
}

TEST_F(AlteredTables, ManyAtOnceAreAFewLinesAndANumber) {
  sm::Subnet subnet;
  for (std::uint16_t i = 0; i < 500; ++i)
    subnet.altered.push_back(
        {{Guid{i + 1U}, PortNum{1}}, wire::PKeyTable::kAttribute, "index 1 0x8001", true});
  std::vector<std::string> said;
  const log::Log log({}, [&](const log::Record&, std::string_view text) { said.emplace_back(text); },
                     {.steady = [] { return std::chrono::nanoseconds{0}; },
                      .wall = [] { return std::chrono::system_clock::time_point{}; }});

  sm::log_altered(log, nullptr, subnet);

  ASSERT_EQ(said.size(), 11U);
  EXPECT_THAT(said.back(), HasSubstr("tables=500 not_named=490"));
}

}  // namespace
}  // namespace smd
