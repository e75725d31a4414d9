// SPDX-License-Identifier: Apache-2.0
// Which ports and switches are planned, and for which state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string_view>

#include "smd/plan/plan.h"
#include "tests/unit/plan/support.h"

namespace smd::sm {
namespace {

using ::testing::ElementsAre;

/// The only round; fails where there are others.
Round only_round(const Plan& plan, Phase phase) {
  EXPECT_THAT(phases_of(plan), ElementsAre(phase));
  return plan.rounds.size() == 1 ? plan.rounds[0] : Round{};
}

TEST(PlanPorts, APortInArmedIsMadeActiveAndNotArmedAgain) {
  auto made = planned_after([](SubnetBuilder& fabric) {
    fabric.state(kNear, 1, PortState::armed).state(kSmHost, 1, PortState::armed);
  });

  const auto round = only_round(made.plan(), Phase::activate_host_links);

  EXPECT_THAT(round.ports, ElementsAre(item_at(made, kNear, 1, PortState::active),
                                       item_at(made, kSmHost, 1, PortState::active)));
}

TEST(PlanPorts, ALinkWithOneEndInInitIsBroughtUpAtThatEnd) {
  auto made = planned_after([](SubnetBuilder& fabric) { fabric.state(kHost, 1, PortState::init); });

  const auto plan = made.plan();

  ASSERT_THAT(phases_of(plan), ElementsAre(Phase::host_links, Phase::activate_host_links));
  EXPECT_THAT(plan.rounds[0].ports, ElementsAre(item_at(made, kHost, 1, PortState::armed)));
  EXPECT_THAT(plan.rounds[1].ports, ElementsAre(item_at(made, kHost, 1, PortState::active)));
}

TEST(PlanPorts, AFieldIsSetWithoutAChangeOfState) {
  const struct {
    std::string_view name;
    std::uint64_t node;
    unsigned port;
    Phase phase;
  } cases[]{{"of a switch's port 0", kFar, 0, Phase::switch_lids},
            {"between switches", kFar, kUp, Phase::switch_links},
            {"a switch's port to a host", kFar, 1, Phase::host_links},
            {"a host's", kHost, 1, Phase::host_links}};
  for (const auto& at : cases) {
    auto made = planned_after([&](SubnetBuilder& fabric) {
      auto& info = fabric.port(at.node, at.port).info;
      info.subnet_timeout = 9;  // of end ports
      info.overrun_errors = 9;  // of links
      if (at.port != 0) info.subnet_timeout = at.node == kHost ? 9 : 0;
    });

    const auto round = only_round(made.plan(), at.phase);

    EXPECT_THAT(round.ports, ElementsAre(item_at(made, at.node, at.port, PortState::no_change))) << at.name;
  }
}

TEST(PlanPorts, TheEndsOfALinkInOperationAreSetOneAfterTheOther) {
  auto made = planned_after([](SubnetBuilder&) {});
  made.link(kNear, 1).neighbor_mtu = made.link(kSmHost, 1).neighbor_mtu = Mtu::m1024;
  made.link(kFar, 1).neighbor_mtu = made.link(kHost, 1).neighbor_mtu = Mtu::m1024;

  const auto round = only_round(made.plan(), Phase::host_links);

  EXPECT_THAT(round.ports, ElementsAre(item_at(made, kNear, 1, PortState::no_change),
                                       item_at(made, kSmHost, 1, PortState::no_change),
                                       item_at(made, kFar, 1, PortState::no_change),
                                       item_at(made, kHost, 1, PortState::no_change)));
}

TEST(PlanPorts, AnEnhancedPort0IsArmedAndMadeActive) {
  auto made = planned_after([](SubnetBuilder& fabric) {
    fabric.node(kFar).switch_info->enhanced_port0 = true;
    fabric.state(kFar, 0, PortState::init);
  });

  const auto plan = made.plan();

  ASSERT_THAT(phases_of(plan), ElementsAre(Phase::switch_lids, Phase::activate_switch_links));
  EXPECT_THAT(plan.rounds[0].ports, ElementsAre(item_at(made, kFar, 0, PortState::armed)));
  EXPECT_THAT(plan.rounds[1].ports, ElementsAre(item_at(made, kFar, 0, PortState::active)));
}

TEST(PlanPorts, TheStateOfABasePort0IsNotOurs) {
  auto made = planned_after([](SubnetBuilder& fabric) { fabric.state(kFar, 0, PortState::init); });

  EXPECT_TRUE(made.plan().empty());
}

TEST(PlanPorts, APortWithoutAKnownFarEndIsNotPlanned) {
  auto made = planned_after([](SubnetBuilder& fabric) { fabric.state(kNear, 7, PortState::init); });

  EXPECT_TRUE(made.plan().empty());
}

TEST(PlanPorts, AFieldThatIsNotKeptIsNotPlanned) {
  auto made = planned_after([](SubnetBuilder& fabric) {
    fabric.port(kFar, 1).info.overrun_errors = 0;
    fabric.node(kFar).not_kept = {{wire::PortInfo::kAttribute, test::port_num(1), "OverrunErrors", 8}};
  });
  EXPECT_TRUE(made.plan().empty());

  made.config.links.overrun_errors_threshold = 7;  // which was never tried
  EXPECT_FALSE(made.plan().empty());
}

TEST(PlanPorts, SwitchInfoIsSetForEachFieldThatIsOurs) {
  const std::function<void(wire::SwitchInfo&)> cases[]{
      [](wire::SwitchInfo& info) { info.linear_fdb_top = 3; },
      [](wire::SwitchInfo& info) { info.linear_fdb_top = 9; },
      [](wire::SwitchInfo& info) { info.life_time = 1; },
      [](wire::SwitchInfo& info) { info.port_state_change = true; },
  };
  for (const auto& spoil : cases) {
    auto made = planned_after([&](SubnetBuilder& fabric) { spoil(*fabric.node(kFar).switch_info); });

    EXPECT_THAT(only_round(made.plan(), Phase::switch_info).switch_infos, ElementsAre(made.index(kFar)));
  }
}

}  // namespace
}  // namespace smd::sm
