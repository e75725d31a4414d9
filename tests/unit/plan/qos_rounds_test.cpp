// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/qos_rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mad/wire/capability.h"
#include "smd/decide/qos_tables.h"
#include "smd/sweep/table_kinds.h"
#include "tests/unit/plan/support.h"

namespace smd::sm {
namespace {

using SlToVlKind = TableKind<wire::SlToVl>;
using Item = TableItem<wire::SlToVl>;

/// in_service() with 8 VLs everywhere, and QoS.
class QosRoundsTest : public testing::Test {
 protected:
  QosRoundsTest() : fabric_(in_service()) {
    for (const auto guid : {kNear, kFar, kSmHost, kHost}) {
      auto& node = fabric_.node(guid);
      for (auto& port : node.ports) {
        port.info.vl_cap = port.info.operational_vls = 4;
        port.info.vl_arb_low_cap = port.info.vl_arb_high_cap = 8;
        port.info.capability_mask |= wire::kCapSlMapping;
      }
    }
    config_.qos.enabled = true;
  }
  /// All ports hold what is decided by `config_` now.
  void hold_as_decided() {
    const auto part = decided(fabric_.build());
    for (const auto guid : {kNear, kFar, kSmHost, kHost}) {
      auto& node = fabric_.node(guid);
      for (unsigned p = 0; p < node.ports.size(); ++p) {
        const auto* tables = find(part, guid, p);
        if (tables == nullptr) continue;
        hold(guid, p, tables->sl_to_vl, {tables->arbitration.begin(), tables->arbitration.end()});
      }
    }
  }
  void hold(std::uint64_t guid, unsigned port, const wire::SlToVl& map,
            std::vector<wire::VlArbitration> arbitration) {
    auto& node = fabric_.node(guid);
    HeldBlocks<wire::SlToVl> rows;
    rows.row.assign(node.is_switch() ? node.ports.size() : 1, map);
    rows.known = rows.asked = sl_to_vl_rows(node);
    node.ports[port].held<wire::SlToVl>() = std::make_shared<const HeldBlocks<wire::SlToVl>>(rows);
    HeldBlocks<wire::VlArbitration> blocks;
    blocks.row = std::move(arbitration);
    blocks.known = blocks.asked = arbitration_blocks(node.ports[port].info);
    node.ports[port].held<wire::VlArbitration>() =
        std::make_shared<const HeldBlocks<wire::VlArbitration>>(blocks);
  }
  QosPart decided(const Subnet& subnet) const {
    LinkPart links = PlanCase(subnet).links;
    for (auto& ports : links.ports) {
      for (auto& port : ports) {
        if (port) port->operational_vls = 4;
      }
    }
    return *decide_qos_tables({.subnet = subnet, .config = config_, .links = links, .policy = {}});
  }
  const QosPart::Tables* find(const QosPart& part, std::uint64_t guid, unsigned port) const {
    return part.find(*fabric_.build().index_of(Guid{guid}), test::port_num(port));
  }
  QosRounds plan() {
    made_.emplace(fabric_.build());
    auto in = made_->in();
    decided_ = in.decided;
    decided_.qos_tables = std::make_shared<const QosPart>(decided(made_->subnet));
    return qos_rounds({.subnet = made_->subnet, .decided = decided_, .left_out = &made_->left_out});
  }
  static std::size_t sets(QosRounds rounds) {
    std::size_t count = rounds.after.sets();
    for (auto& round : rounds.before) count += round.sets();
    return count;
  }
  static config::SlMap all_on(std::uint8_t vl) {
    config::SlMap map;
    map.fill(Vl{vl});
    return map;
  }
  void can_set_many(std::uint64_t guid) { fabric_.node(guid).switch_info->optimized_sl_to_vl = 1; }

  SubnetBuilder fabric_;
  config::SubnetConfig config_;
  std::optional<PlanCase> made_;
  Decided decided_;
};

TEST_F(QosRoundsTest, AreEmptyWhereAllIsAsDecided) {
  hold_as_decided();
  EXPECT_EQ(sets(plan()), 0U);
}

TEST_F(QosRoundsTest, DoNotWriteInUseWhatWasNotRead) { EXPECT_EQ(sets(plan()), 0U); }

TEST_F(QosRoundsTest, OfAPortThatBeginsAreWrittenWithoutBeingRead) {
  hold_as_decided();
  auto& port = fabric_.port(kHost, 1);
  port.info.port_state = PortState::init;
  port.held<wire::SlToVl>() = nullptr;
  port.held<wire::VlArbitration>() = nullptr;
  auto rounds = plan();
  EXPECT_EQ(rounds.before[3].items<wire::SlToVl>().size(), 1U);
  EXPECT_EQ(rounds.before[0].items<wire::VlArbitration>().size(), 2U) << "low and high";
  EXPECT_EQ(sets(rounds), 3U);
}

TEST_F(QosRoundsTest, WriteAWeightOnlyWhereItDiffers) {
  config_.qos.classes[static_cast<std::size_t>(config::PortClass::ca)].vlarb_low = {{{Vl{0}, 8}}};
  hold_as_decided();
  config_.qos.classes[static_cast<std::size_t>(config::PortClass::ca)].vlarb_low = {{{Vl{0}, 9}}};
  auto rounds = plan();
  EXPECT_EQ(rounds.before[0].items<wire::VlArbitration>().size(), 2U) << "one block of each CA";
  EXPECT_EQ(sets(rounds), 2U);
}

/// No SL moves, but the two tables are written one after the other.
TEST_F(QosRoundsTest, LeaveAVlThatGoesToTheHighTableItsTurnsInTheLowOne) {
  config_.qos.all.vlarb_high = config::ArbitrationList{};
  config_.qos.all.vlarb_low = {{{Vl{0}, 64}, {Vl{1}, 32}}};
  hold_as_decided();
  config_.qos.all.vlarb_high = {{{Vl{1}, 32}}};
  config_.qos.all.vlarb_low = {{{Vl{0}, 64}}};
  auto rounds = plan();
  std::size_t low = 0;
  for (const auto& item : rounds.before[0].items<wire::VlArbitration>()) {
    if (item.block != 0) continue;
    ++low;
    EXPECT_EQ(item.content.entries[1], (wire::VlWeight{Vl{1}, 32}));
  }
  EXPECT_EQ(low, 0U) << "it holds just that";
  for (const auto& item : rounds.after.items<wire::VlArbitration>()) {
    EXPECT_EQ(item.block, 0U);
    EXPECT_EQ(item.content.entries[1], wire::VlWeight{});
  }
  EXPECT_FALSE(rounds.after.items<wire::VlArbitration>().empty());
}

/// VL 1 is left for VL 2: first VL 2 has turns, then SLs move, then VL 1 loses its turns.
TEST_F(QosRoundsTest, LeaveNoVlThatIsInUseWithoutTurns) {
  config_.qos.all.sl2vl = all_on(1);
  config_.qos.all.vlarb_high = config::ArbitrationList{};
  config_.qos.all.vlarb_low = {{{Vl{1}, 64}}};
  hold_as_decided();
  config_.qos.all.sl2vl = all_on(2);
  config_.qos.all.vlarb_low = {{{Vl{2}, 32}}};
  auto rounds = plan();
  const auto between = rounds.before[0].items<wire::VlArbitration>();
  ASSERT_FALSE(between.empty());
  for (const auto& item : between) {
    EXPECT_EQ(item.content.entries[0], (wire::VlWeight{Vl{2}, 32}));
    EXPECT_EQ(item.content.entries[1], (wire::VlWeight{Vl{1}, 64}));
  }
  const auto after = rounds.after.items<wire::VlArbitration>();
  ASSERT_EQ(after.size(), between.size());
  for (const auto& item : after) EXPECT_EQ(item.content.entries[1], wire::VlWeight{});
  EXPECT_FALSE(rounds.before[3].items<wire::SlToVl>().empty());
}

TEST_F(QosRoundsTest, SetAllPortsOfASwitchAtOnceWhereItCan) {
  can_set_many(kNear);
  hold_as_decided();
  config_.qos.all.sl2vl = all_on(3);
  auto rounds = plan();
  const auto many = rounds.before[2].items<wire::SlToVl>();
  ASSERT_EQ(many.size(), 1U);
  EXPECT_EQ(many[0].node, made_->index(kNear));
  EXPECT_EQ(many[0].block, SlToVlKind::kAllPorts);
  std::size_t of_far = 0;
  for (const auto& item : rounds.before[3].items<wire::SlToVl>()) {
    EXPECT_NE(item.node, made_->index(kNear));
    of_far += item.node == made_->index(kFar) ? 1U : 0U;
  }
  EXPECT_EQ(of_far, 2U * 9) << "two ports with links, nine ways in";
}

TEST_F(QosRoundsTest, SetEachPortWhereTheTablesOfASwitchDiffer) {
  can_set_many(kNear);
  hold_as_decided();
  config::QosPorts between;
  between.ports = {*config::parse_port_term("ALL_SWITCH_TO_SWITCH")};
  between.sl2vl = all_on(3);
  config_.qos.ports = {between};
  auto rounds = plan();
  EXPECT_EQ(rounds.before[2].sets(), 0U) << "port 1 would be changed too";
  const auto rows = rounds.before[3].items<wire::SlToVl>();
  const auto of_near = std::ranges::count_if(rows, [&](const Item& item) {
    return item.node == made_->index(kNear) && item.block == SlToVlKind::kAllIn;
  });
  EXPECT_EQ(of_near, 1) << "one Set for all ports by which packets come in";
}

TEST_F(QosRoundsTest, DoNotAskASwitchAgainThatRefusesTheOptimisedForm) {
  can_set_many(kNear);
  fabric_.node(kNear).not_kept.push_back(
      {wire::SlToVl::kAttribute, PortNum{0}, std::string(kOptimizedField), 1});
  hold_as_decided();
  config_.qos.all.sl2vl = all_on(3);
  auto rounds = plan();
  EXPECT_EQ(rounds.before[2].sets(), 0U);
  for (const auto& item : rounds.before[3].items<wire::SlToVl>()) EXPECT_LT(item.block, SlToVlKind::kAllIn);
}

}  // namespace
}  // namespace smd::sm
