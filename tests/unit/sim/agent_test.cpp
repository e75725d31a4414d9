// SPDX-License-Identifier: Apache-2.0
// What the management agents answer, attribute by attribute.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mad/wire/modifier.h"
#include "tests/support/sim_lab.h"

namespace smd::test {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr auto kUnsupported = wire::kStatusBadMethodAttribute;
constexpr auto kBadField = wire::kStatusBadField;

struct Agent : testing::Test {
  sim::World world{two_leaves()};
  Asker asker{world};
  mad::DirectedPath self = path({}), leaf0 = path({1}), leaf1 = path({1, 3, 2}), h1 = path({1, 3, 2, 1}),
                    h2 = path({1, 3, 2, 2});
};

TEST_F(Agent, NodeInfoSaysWhoAndThroughWhichPort) {
  const auto ca = asker.get<wire::NodeInfo>(h1);
  ASSERT_TRUE(ca.good());
  EXPECT_EQ(ca.value.type, NodeType::ca);
  EXPECT_EQ(ca.value.node, Guid{0x5000});
  EXPECT_EQ(ca.value.port, Guid{0x5001});
  EXPECT_EQ(ca.value.local_port, PortNum{1});
  EXPECT_EQ(ca.value.partition_cap, 128);
  EXPECT_EQ(ca.value.vendor_id, 0x2c9U);

  const auto sw = asker.get<wire::NodeInfo>(leaf1).value;
  EXPECT_EQ(sw.type, NodeType::switch_);
  EXPECT_EQ(sw.port, sw.node);
  EXPECT_EQ(sw.local_port, PortNum{3});
  EXPECT_EQ(sw.num_ports, 4);
}

TEST_F(Agent, TheReturnPathIsWrittenOnTheWay) {
  const auto answer = asker.get<wire::NodeInfo>(h1);
  EXPECT_TRUE(answer.smp.returning());
  EXPECT_EQ(answer.smp.hop_pointer(), 0);
  EXPECT_EQ(answer.smp.return_path(1), PortNum{1});
  EXPECT_EQ(answer.smp.return_path(2), PortNum{1});
  EXPECT_EQ(answer.smp.return_path(3), PortNum{3});
  EXPECT_EQ(answer.smp.return_path(4), PortNum{1});
}

TEST_F(Agent, NodeDescriptionCannotBeSet) {
  EXPECT_EQ(asker.get<wire::NodeDescription>(leaf1).value.text, "leaf1");
  EXPECT_EQ(asker.set<wire::NodeDescription>(leaf1, {.text = "mine"}).status, kUnsupported);
  EXPECT_EQ(asker.get<wire::NodeDescription>(leaf1).value.text, "leaf1");
}

TEST_F(Agent, OtherVersionsMethodsAndAttributesAreRefusedByTheirStatus) {
  auto smp = wire::Smp::directed(wire::Method::get, wire::NodeInfo::kAttribute, 0, self);
  smp.set_class_version(2);
  EXPECT_EQ(asker.ask(smp, self)->status(), wire::kStatusBadVersion);

  smp = wire::Smp::directed(static_cast<wire::Method>(0x12), wire::NodeInfo::kAttribute, 0, self);
  EXPECT_EQ(asker.ask(smp, self)->status(), wire::kStatusBadMethod);

  smp = wire::Smp::directed(wire::Method::get, 0x1A, 0, leaf0);  // RandomForwardingTable
  EXPECT_EQ(asker.ask(smp, leaf0)->status(), kUnsupported);
  EXPECT_EQ(asker.get<wire::SwitchInfo>(h1).status, kUnsupported);
  EXPECT_EQ(asker.get<wire::LinearForwardingTable>(h1).status, kUnsupported);
}

TEST_F(Agent, SwitchInfoKeepsWhatIsWritableOnly) {
  const auto before = asker.get<wire::SwitchInfo>(leaf0).value;
  EXPECT_EQ(before.linear_fdb_cap, 49'152);
  EXPECT_EQ(before.linear_fdb_top, 0);

  const auto after = asker.change<wire::SwitchInfo>(leaf0, 0, [](wire::SwitchInfo& info) {
    info.linear_fdb_cap = 7;
    info.partition_enforcement_cap = 7;
    info.linear_fdb_top = 900;
    info.life_time = 17;
  });
  EXPECT_TRUE(after.good());
  EXPECT_EQ(after.value.linear_fdb_cap, 49'152);
  EXPECT_EQ(after.value.partition_enforcement_cap, 32);
  EXPECT_EQ(after.value.linear_fdb_top, 900);
  EXPECT_EQ(after.value.life_time, 17);
}

TEST_F(Agent, ATopAboveTheCapIsRefused) {
  const auto answer =
      asker.change<wire::SwitchInfo>(leaf0, 0, [](wire::SwitchInfo& info) { info.linear_fdb_top = 49'152; });
  EXPECT_EQ(answer.status, kBadField);
  EXPECT_EQ(answer.value.linear_fdb_top, 0);
}

TEST_F(Agent, LinearTablesKeepTheirBlocksAndEndAtTheCap) {
  EXPECT_THAT(asker.get<wire::LinearForwardingTable>(leaf0, 767).value.ports, Each(kNoPort));
  wire::LinearForwardingTable block;
  block.ports.fill(PortNum{2});
  EXPECT_TRUE(asker.set(leaf0, block, 767).good());
  EXPECT_EQ(asker.get<wire::LinearForwardingTable>(leaf0, 767).value, block);
  EXPECT_THAT(asker.get<wire::LinearForwardingTable>(leaf0, 766).value.ports, Each(kNoPort));
  EXPECT_EQ(asker.set(leaf0, block, 768).status, kBadField);
}

TEST_F(Agent, MulticastTablesKeepTheirBlocksByPosition) {
  wire::MulticastForwardingTable block;
  block.masks[3] = 0x000E;
  EXPECT_TRUE(asker.set(leaf0, block, wire::mft_modifier(2, 0)).good());
  EXPECT_EQ(asker.get<wire::MulticastForwardingTable>(leaf0, wire::mft_modifier(2, 0)).value, block);
  EXPECT_EQ(asker.get<wire::MulticastForwardingTable>(leaf0, wire::mft_modifier(2, 1)).status, kBadField);
  EXPECT_EQ(asker.get<wire::MulticastForwardingTable>(leaf0, wire::mft_modifier(511, 0)).value.masks[0], 0);
}

TEST_F(Agent, PKeyTablesStartWithTheDefaultKeyAndKeepOthers) {
  auto table = asker.get<wire::PKeyTable>(h1, 0).value;
  EXPECT_EQ(table.keys[0], kDefaultPKey);
  table.keys[7] = PKey{0x8001};
  EXPECT_TRUE(asker.set(h1, table, wire::p_key_modifier(0)).good());
  EXPECT_EQ(asker.get<wire::PKeyTable>(h1, 0).value, table);
  EXPECT_TRUE(asker.get<wire::PKeyTable>(h1, 3).good());
  EXPECT_EQ(asker.get<wire::PKeyTable>(h1, 4).status, kBadField);  // 128 keys
}

TEST_F(Agent, SwitchesHavePKeysAtPort0AndAtTheirExternalPorts) {
  wire::PKeyTable table;
  table.keys.fill(PKey{0x8002});
  const auto port0 = asker.set(leaf0, table, wire::p_key_modifier(0, PortNum{0})).value;
  EXPECT_EQ(port0.keys[7], PKey{0x8002});
  EXPECT_EQ(port0.keys[8], PKey{});  // capacity 8
  EXPECT_EQ(asker.set(leaf0, table, wire::p_key_modifier(0, PortNum{3})).value, table);
  EXPECT_EQ(asker.get<wire::PKeyTable>(leaf0, wire::p_key_modifier(1, PortNum{3})).status, kBadField);
  EXPECT_EQ(asker.get<wire::PKeyTable>(leaf0, wire::p_key_modifier(0, PortNum{5})).status, kBadField);
}

TEST_F(Agent, SlToVlIsKeptForEachPairOfPorts) {
  wire::SlToVl table;
  table.vls.fill(Vl{1});
  EXPECT_TRUE(asker.set(leaf0, table, wire::sl_to_vl_modifier(PortNum{1}, PortNum{3})).good());
  EXPECT_EQ(asker.get<wire::SlToVl>(leaf0, wire::sl_to_vl_modifier(PortNum{1}, PortNum{3})).value, table);
  EXPECT_NE(asker.get<wire::SlToVl>(leaf0, wire::sl_to_vl_modifier(PortNum{2}, PortNum{3})).value, table);

  EXPECT_TRUE(asker.set(leaf0, table, wire::sl_to_vl_all_in_modifier(PortNum{2})).good());
  EXPECT_EQ(asker.get<wire::SlToVl>(leaf0, wire::sl_to_vl_modifier(PortNum{4}, PortNum{2})).value, table);
  EXPECT_TRUE(asker.set(h1, table).good());
  EXPECT_EQ(asker.get<wire::SlToVl>(h1).value, table);
}

TEST_F(Agent, ArbitrationTablesHaveEightEntriesHighAndLow) {
  wire::VlArbitration table;
  table.entries.fill({.vl = Vl{2}, .weight = 9});
  const auto kept =
      asker.set(leaf0, table, wire::vl_arb_modifier(wire::VlArbPart::high_first, PortNum{3})).value;
  EXPECT_EQ(kept.entries[7], (wire::VlWeight{.vl = Vl{2}, .weight = 9}));
  EXPECT_EQ(kept.entries[8], wire::VlWeight{});
  EXPECT_TRUE(asker.get<wire::VlArbitration>(h1, wire::vl_arb_modifier(wire::VlArbPart::low_first)).good());
  EXPECT_EQ(asker.get<wire::VlArbitration>(h1, wire::vl_arb_modifier(wire::VlArbPart::low_second)).status,
            kBadField);
}

TEST_F(Agent, GuidsCanBeAddedButNotTheFirst) {
  auto info = asker.get<wire::GuidInfo>(h1).value;
  EXPECT_EQ(info.guids[0], Guid{0x5001});
  info.guids[0] = Guid{7};
  info.guids[2] = Guid{8};
  EXPECT_TRUE(asker.set(h1, info).good());
  const auto after = asker.get<wire::GuidInfo>(h1).value;
  EXPECT_EQ(after.guids[0], Guid{0x5001});
  EXPECT_EQ(after.guids[2], Guid{8});
  EXPECT_EQ(asker.get<wire::GuidInfo>(h1, 16).status, kBadField);
}

TEST_F(Agent, SmInfoGoesToTheSmOfThePortAndIsUnsupportedWithoutOne) {
  EXPECT_EQ(asker.get<wire::SmInfo>(h1).status, kUnsupported);

  Asker other(world, {"h1"});
  ASSERT_TRUE(other.transport().claim_sm());
  EXPECT_TRUE(asker.get<wire::SmInfo>(h1).none());  // it does not answer by itself
  ASSERT_EQ(other.came(wire::Method::get).size(), 1U);
  EXPECT_EQ(other.came(wire::Method::get)[0].attribute(), wire::SmInfo::kAttribute);
}

TEST_F(Agent, OneSmHoldsAPortAndItsCapabilitySaysSo) {
  Asker one(world, {"h1"}), two(world, {"h1"});
  EXPECT_TRUE(one.transport().claim_sm());
  EXPECT_FALSE(two.transport().claim_sm());
  EXPECT_TRUE(wire::has(asker.get<wire::PortInfo>(h1, 1).value, wire::kCapIsSm));
  one.transport().release_sm();
  EXPECT_FALSE(wire::has(asker.get<wire::PortInfo>(h1, 1).value, wire::kCapIsSm));
}

TEST_F(Agent, AnswersGoToTheClientThatAsked) {
  Asker second(world);
  EXPECT_TRUE(second.get<wire::NodeInfo>(h1).good());
  EXPECT_TRUE(asker.inbox.empty());
}

TEST_F(Agent, OnlyMellanoxDevicesHaveTheVendorAttribute) {
  EXPECT_TRUE(asker.get<wire::MlnxExtPortInfo>(leaf0, 3).good());
  auto fabric = two_leaves();
  fabric.nodes[0].vendor_id = 0x66a;
  sim::World other(fabric);
  Asker there(other);
  EXPECT_EQ(there.get<wire::MlnxExtPortInfo>(leaf0, 3).status, kUnsupported);
}

TEST_F(Agent, EverySmpIsCountedWhereItArrives) {
  asker.get<wire::NodeInfo>(h1);
  asker.get<wire::NodeInfo>(leaf0);
  asker.set<wire::SlToVl>(h1, {});
  EXPECT_EQ(world.fabric().counts().gets(wire::NodeInfo::kAttribute), 2U);
  EXPECT_EQ(world.fabric().counts().sets(wire::SlToVl::kAttribute), 1U);
  EXPECT_THAT(world.fabric().counts().all(),
              ElementsAre(sim::SmpCount{.attribute = 0x11, .gets = 2, .sets = 0},
                          sim::SmpCount{.attribute = 0x17, .gets = 0, .sets = 1}));
}

}  // namespace
}  // namespace smd::test
