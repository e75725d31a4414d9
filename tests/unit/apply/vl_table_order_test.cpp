// SPDX-License-Identifier: Apache-2.0
#include "smd/apply/vl_table_order.h"

#include <gtest/gtest.h>

#include "tests/support/subnet_builder.h"

namespace smd::sm {
namespace {

constexpr std::uint64_t kOrderSwitch = 0x10, kOrderHost = 0x100;
constexpr NodeIndex kSwitchAt = 0, kHostAt = 1;  // the order of their GUIDs

wire::VlArbitration turns_for(std::initializer_list<unsigned> vls) {
  wire::VlArbitration block;
  std::size_t entry = 0;
  for (const auto vl : vls) block.entries[entry++] = {Vl{static_cast<std::uint8_t>(vl)}, 64};
  return block;
}

wire::SlToVl all_on_vl(unsigned vl) {
  wire::SlToVl map;
  map.vls.fill(Vl{static_cast<std::uint8_t>(vl)});
  return map;
}

/// All ports are known to have turns for VL 0 in their first block, and all SLs on VL 0.
class VlTableOrderTest : public testing::Test {
 protected:
  VlTableOrderTest() {
    fabric_.add_switch(kOrderSwitch, 3).host(kOrderHost, kOrderSwitch, 1);
    for (const auto guid : {kOrderSwitch, kOrderHost}) {
      for (auto& port : fabric_.node(guid).ports) {
        HeldBlocks<wire::VlArbitration> turns;
        turns.row = {turns_for({0})};
        turns.known = turns.asked = BlockSet::first(1);
        port.held<wire::VlArbitration>() = std::make_shared<const HeldBlocks<wire::VlArbitration>>(turns);
        HeldBlocks<wire::SlToVl> rows;
        rows.row.assign(4, all_on_vl(0));
        rows.known = rows.asked = BlockSet::first(4);
        port.held<wire::SlToVl>() = std::make_shared<const HeldBlocks<wire::SlToVl>>(rows);
      }
    }
    subnet_ = fabric_.build();
  }
  static TableAnswer<wire::VlArbitration> kept(NodeIndex node, unsigned port, bool refused = true) {
    return {.node = node, .port = test::port_num(port), .block = 0, .held = {}, .refused = refused};
  }
  static TableAnswer<wire::VlArbitration> took(unsigned port, std::size_t block,
                                               std::initializer_list<unsigned> vls) {
    return {.node = kHostAt, .port = test::port_num(port), .block = block, .held = turns_for(vls)};
  }
  static TableItem<wire::SlToVl> map(NodeIndex node, unsigned port, unsigned vl, std::size_t block = 0) {
    return {.node = node, .port = test::port_num(port), .block = block, .content = all_on_vl(vl)};
  }
  static TableItem<wire::VlArbitration> weights(NodeIndex node, unsigned port) {
    return {.node = node, .port = test::port_num(port)};
  }

  test::SubnetBuilder fabric_;
  Subnet subnet_;
};

TEST_F(VlTableOrderTest, AMapWaitsForTurnsThatItsPortHasNotTaken) {
  VlTableOrder order(subnet_);
  EXPECT_FALSE(order.waits(map(kHostAt, 1, 1), Phase::vl_tables)) << "nothing has failed";
  order.note(kept(kHostAt, 1));
  EXPECT_TRUE(order.waits(map(kHostAt, 1, 1), Phase::vl_tables));
  EXPECT_FALSE(order.waits(map(kSwitchAt, 1, 1), Phase::vl_tables)) << "another port";
}

TEST_F(VlTableOrderTest, AMapToVlsThatHaveTurnsDoesNotWait) {
  VlTableOrder order(subnet_);
  order.note(kept(kHostAt, 1));
  EXPECT_FALSE(order.waits(map(kHostAt, 1, 0), Phase::vl_tables)) << "in the table that it has kept";
  order.note(took(1, 2, {1}));
  EXPECT_FALSE(order.waits(map(kHostAt, 1, 1), Phase::vl_tables)) << "in another block";
}

TEST_F(VlTableOrderTest, ABlockWithoutAnAnswerGivesNoTurns) {
  VlTableOrder order(subnet_);
  order.note(kept(kHostAt, 1, false));
  EXPECT_TRUE(order.waits(map(kHostAt, 1, 2), Phase::vl_tables));
}

TEST_F(VlTableOrderTest, AMapDoesNotWaitWhereTurnsAreNotKnown) {
  fabric_.port(kOrderHost, 1).held<wire::VlArbitration>() = nullptr;
  subnet_ = fabric_.build();
  VlTableOrder order(subnet_);
  order.note(kept(kHostAt, 1));
  EXPECT_FALSE(order.waits(map(kHostAt, 1, 1), Phase::vl_tables));
}

TEST_F(VlTableOrderTest, TurnsStayWhereTheMapWasNotTaken) {
  VlTableOrder order(subnet_);
  EXPECT_FALSE(order.waits(weights(kHostAt, 1), Phase::vl_weights));
  order.note(TableAnswer<wire::SlToVl>{.node = kHostAt, .port = PortNum{1}, .held = {}, .refused = true});
  EXPECT_TRUE(order.waits(weights(kHostAt, 1), Phase::vl_weights));
  EXPECT_FALSE(order.waits(weights(kHostAt, 1), Phase::vl_tables)) << "turns are added";
}

TEST_F(VlTableOrderTest, TurnsStayWhereTheMapWaits) {
  VlTableOrder order(subnet_);
  order.note(kept(kHostAt, 1));
  ASSERT_TRUE(order.waits(map(kHostAt, 1, 1), Phase::vl_tables));
  EXPECT_TRUE(order.waits(weights(kHostAt, 1), Phase::vl_weights));
}

TEST_F(VlTableOrderTest, OneSetForAllPortsWaitsForEachAndCountsForEach) {
  constexpr auto kAll = TableKind<wire::SlToVl>::kAllPorts;
  VlTableOrder order(subnet_);
  order.note(kept(kSwitchAt, 3));
  EXPECT_TRUE(order.waits(map(kSwitchAt, 1, 1, kAll), Phase::vl_tables));
  EXPECT_TRUE(order.waits(weights(kSwitchAt, 2), Phase::vl_weights));
  EXPECT_FALSE(order.waits(weights(kSwitchAt, 0), Phase::vl_weights)) << "it is for external ports";
}

}  // namespace
}  // namespace smd::sm
