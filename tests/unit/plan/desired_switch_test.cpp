// SPDX-License-Identifier: Apache-2.0
// SwitchInfo and ARInfo as desired.
#include <gtest/gtest.h>

#include <string_view>

#include "mad/wire/capability.h"
#include "smd/plan/desired.h"
#include "tests/support/plan_case.h"

namespace smd::sm {
namespace {

using test::PlanCase;
using test::SubnetBuilder;

constexpr std::uint64_t kOne = 0x10, kTwo = 0x20;

/// Two switches; the first has a forwarding table and shows MulticastFDBTop.
SubnetBuilder switch_pair() {
  SubnetBuilder fabric;
  fabric.add_switch(kOne).add_switch(kTwo).link(kOne, 1, kTwo, 1).lid(kOne, 0, 1).lid(kTwo, 0, 2);
  fabric.lft(kOne, 2, {{1, 0}, {2, 1}}).sm(kOne, 0, 1);
  fabric.port(kOne, 0).info.capability_mask = wire::kCapMulticastFdbTop;
  return fabric;
}

TEST(DesiredSwitchInfo, RaisesTheTopAndLeavesTheRestAsItIs) {
  auto fabric = switch_pair();
  auto& info = *fabric.node(kOne).switch_info;
  info.linear_fdb_top = 0;
  info.life_time = 3;
  info.port_state_change = true;
  info.default_port = test::port_num(9);
  info.multicast_fdb_top = 0xC055;
  PlanCase made(fabric.build());
  made.routes.top = Lid{40};
  made.config.links.packet_lifetime = 17;

  auto expected = info;
  expected.linear_fdb_top = 40;
  expected.life_time = 17;
  expected.port_state_change = false;  // it is to be cleared
  EXPECT_EQ(desired_switch_info(made.in(), made.node(kOne)), expected);
}

TEST(DesiredSwitchInfo, LeavesTheTopOfASwitchWithoutADecidedTable) {
  auto fabric = switch_pair();
  fabric.node(kTwo).switch_info->linear_fdb_top = 7;
  PlanCase made(fabric.build());
  made.routes.top = Lid{40};

  EXPECT_EQ(desired_switch_info(made.in(), made.node(kTwo))->linear_fdb_top, 7);
}

TEST(DesiredSwitchInfo, IsNothingForASwitchThatDidNotAnswer) {
  auto fabric = switch_pair();
  fabric.node(kTwo).switch_info.reset();
  PlanCase made(fabric.build());

  EXPECT_FALSE(desired_switch_info(made.in(), made.node(kTwo)));
}

TEST(DesiredSwitchInfo, TheMulticastTopIsTheEndOfABlockAndWithinTheTable) {
  const struct {
    std::string_view name;
    std::size_t entries;
    std::uint16_t cap;
    std::uint16_t expected;
  } cases[]{
      {"no group", 0, 128, 0xBFFF},
      {"one", 1, 128, 0xC01F},
      {"a whole block", 32, 128, 0xC01F},
      {"one more", 33, 128, 0xC03F},
      {"no more than the table has", 100, 40, 0xC027},
      {"never 0xFFFF, which is no multicast LID", 0x3FFF, 0xFFFF, 0xFFFE},
  };
  for (const auto& at : cases) {
    auto fabric = switch_pair();
    fabric.node(kOne).switch_info->multicast_fdb_cap = at.cap;
    PlanCase made(fabric.build());
    made.multicast.emplace().top = at.entries;

    EXPECT_EQ(desired_switch_info(made.in(), made.node(kOne))->multicast_fdb_top, at.expected) << at.name;
  }
}

TEST(DesiredSwitchInfo, TheMulticastTopIsLeftWhereTheSwitchDoesNotShowIt) {
  auto fabric = switch_pair();
  fabric.port(kOne, 0).info.capability_mask = 0;
  PlanCase made(fabric.build());
  made.multicast.emplace().top = 1;

  EXPECT_EQ(desired_switch_info(made.in(), made.node(kOne))->multicast_fdb_top, 0);
}

TEST(DesiredSwitchInfo, AFieldThatIsNotKeptIsLeft) {
  auto fabric = switch_pair();
  fabric.node(kOne).switch_info->life_time = 3;
  fabric.node(kOne).not_kept = {{wire::SwitchInfo::kAttribute, PortNum{0}, "LifeTimeValue", 18}};
  PlanCase made(fabric.build());

  EXPECT_EQ(desired_switch_info(made.in(), made.node(kOne))->life_time, 3);
  made.config.links.packet_lifetime = 17;
  EXPECT_EQ(desired_switch_info(made.in(), made.node(kOne))->life_time, 17);
}

TEST(DesiredArInfo, IsOffWhereThatIsConfiguredAndTheSwitchRoutesAdaptively) {
  const struct {
    std::string_view name;
    config::AdoptAdaptive adaptive;
    bool known, enabled, unkept;
    bool expected;
  } cases[]{
      {"to be disabled", config::AdoptAdaptive::disable, true, true, false, true},
      {"warned of only", config::AdoptAdaptive::warn, true, true, false, false},
      {"off already", config::AdoptAdaptive::disable, true, false, false, false},
      {"nothing is known", config::AdoptAdaptive::disable, false, false, false, false},
      {"the switch stays on", config::AdoptAdaptive::disable, true, true, true, false},
  };
  for (const auto& at : cases) {
    auto fabric = switch_pair();
    if (at.known)
      fabric.node(kOne).ar_info = std::make_shared<const wire::ArInfo>(
          wire::ArInfo{.no_fallback = true, .enabled = at.enabled, .group_top = 12});
    if (at.unkept) fabric.node(kOne).not_kept = {{wire::ArInfo::kAttribute, PortNum{0}, "E", 0}};
    PlanCase made(fabric.build());
    made.config.adopt.adaptive_routing = at.adaptive;

    const auto desired = desired_ar_info(made.in(), made.node(kOne));

    ASSERT_EQ(desired.has_value(), at.expected) << at.name;
    if (desired) EXPECT_EQ(*desired, (wire::ArInfo{.no_fallback = true, .enabled = false, .group_top = 12}));
  }
}

TEST(MustRetrain, IsTheDecidedEndAlone) {
  PlanCase made(switch_pair().build());
  made.link(kOne, 1).retrain = true;

  EXPECT_TRUE(must_retrain(made.in(), made.node(kOne), test::port_num(1)));
  EXPECT_FALSE(must_retrain(made.in(), made.node(kTwo), test::port_num(1)));
  EXPECT_FALSE(must_retrain(made.in(), made.node(kOne), test::port_num(2)));
  EXPECT_FALSE(must_retrain(made.in(), made.node(kOne), test::port_num(0)));
}

}  // namespace
}  // namespace smd::sm
