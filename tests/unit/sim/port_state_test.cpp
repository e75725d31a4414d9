// SPDX-License-Identifier: Apache-2.0
// The port state machine, through SMPs alone.
#include <gtest/gtest.h>

#include "tests/support/sim_lab.h"

namespace smd::test {
namespace {

struct PortStates : testing::Test {
  sim::World world{two_leaves()};
  Asker asker{world};
  mad::DirectedPath leaf0 = path({1}), spine = path({1, 3});

  PortState state(const mad::DirectedPath& way, std::uint32_t port) {
    return asker.get<wire::PortInfo>(way, port).value.port_state;
  }
  std::uint16_t ask_for(const mad::DirectedPath& way, std::uint32_t port, PortState wanted,
                        PhysState phys = PhysState::no_change) {
    return asker
        .change<wire::PortInfo>(way, port,
                                [&](wire::PortInfo& info) {
                                  info.port_state = wanted;
                                  info.phys_state = phys;
                                })
        .status;
  }
};

TEST_F(PortStates, LinkedPortsStartInInitAndOthersPoll) {
  EXPECT_EQ(state(leaf0, 3), PortState::init);
  const auto unlinked = asker.get<wire::PortInfo>(leaf0, 4).value;
  EXPECT_EQ(unlinked.port_state, PortState::down);
  EXPECT_EQ(unlinked.phys_state, PhysState::polling);
}

TEST_F(PortStates, ActiveIsRefusedBeforeArmed) {
  EXPECT_EQ(ask_for(leaf0, 3, PortState::active), wire::kStatusBadField);
  EXPECT_EQ(state(leaf0, 3), PortState::init);
}

TEST_F(PortStates, ActiveNeedsTheNeighbourToBeArmed) {
  EXPECT_EQ(ask_for(leaf0, 3, PortState::armed), 0);
  EXPECT_EQ(ask_for(leaf0, 3, PortState::active), wire::kStatusBadField);
  EXPECT_EQ(state(leaf0, 3), PortState::armed);

  EXPECT_EQ(ask_for(spine, 1, PortState::armed), 0);
  EXPECT_EQ(ask_for(leaf0, 3, PortState::active), 0);
  EXPECT_EQ(ask_for(spine, 1, PortState::active), 0);
  EXPECT_EQ(state(spine, 1), PortState::active);
}

TEST_F(PortStates, InitCannotBeAskedFor) {
  EXPECT_EQ(ask_for(leaf0, 3, PortState::init), wire::kStatusBadField);
}

TEST_F(PortStates, APortWithoutALinkCannotBeArmed) {
  EXPECT_EQ(ask_for(leaf0, 4, PortState::armed), wire::kStatusBadField);
}

TEST_F(PortStates, DownTrainsTheLinkAgainAndBothSwitchesSeeAChange) {
  for (const auto wanted : {PortState::armed, PortState::active}) {
    ask_for(leaf0, 3, wanted);
    ask_for(spine, 1, wanted);
  }
  for (const auto& way : {leaf0, spine}) {
    asker.change<wire::SwitchInfo>(way, 0, [](wire::SwitchInfo& info) { info.port_state_change = true; });
    ASSERT_FALSE(asker.get<wire::SwitchInfo>(way).value.port_state_change);
  }

  ask_for(spine, 1, PortState::down);  // its answer is lost with the link

  EXPECT_EQ(state(spine, 1), PortState::init);
  EXPECT_EQ(state(leaf0, 3), PortState::init);
  EXPECT_TRUE(asker.get<wire::SwitchInfo>(leaf0).value.port_state_change);
  EXPECT_TRUE(asker.get<wire::SwitchInfo>(spine).value.port_state_change);
}

TEST_F(PortStates, ADisabledPortStaysDownUntilItIsToldToPoll) {
  const auto leaf1 = path({1, 3, 2});
  EXPECT_EQ(ask_for(leaf1, 1, PortState::no_change, PhysState::disabled), 0);
  EXPECT_EQ(asker.get<wire::PortInfo>(leaf1, 1).value.phys_state, PhysState::disabled);
  EXPECT_EQ(world.fabric().port_info({"h1", PortNum{1}})->port_state, PortState::down);

  EXPECT_EQ(ask_for(leaf1, 1, PortState::down, PhysState::polling), 0);
  EXPECT_EQ(state(leaf1, 1), PortState::init);
}

TEST_F(PortStates, NarrowedWidthAndSlowerSpeedCountAfterTheNextTraining) {
  const auto leaf1 = path({1, 3, 2});
  const std::uint32_t port = 1U | 0x8000'0000U;
  const auto before = asker.get<wire::PortInfo>(leaf1, port).value;
  EXPECT_EQ(before.link_speed_ext_active, 2);  // EDR

  asker.change<wire::PortInfo>(leaf1, port, [](wire::PortInfo& info) {
    info.link_width_enabled = 1;
    info.link_speed_ext_enabled = 30;  // no extended speeds
    info.link_speed_enabled = 3;
  });
  EXPECT_EQ(asker.get<wire::PortInfo>(leaf1, port).value.link_speed_ext_active, 2);
  ask_for(leaf1, port, PortState::down);
  EXPECT_EQ(asker.get<wire::PortInfo>(leaf1, port).value.link_speed_ext_active, 2);  // the link has stayed
  ask_for(leaf1, port, PortState::down, PhysState::polling);

  const auto after = asker.get<wire::PortInfo>(leaf1, port).value;
  EXPECT_EQ(after.link_width_active, 1);
  EXPECT_EQ(after.link_speed_ext_active, 0);
  EXPECT_EQ(after.link_speed_active, 2);  // DDR, at both ends
  EXPECT_EQ(world.fabric().port_info({"h1", PortNum{1}})->link_speed_active, 2);
}

TEST_F(PortStates, EndsWithoutACommonSpeedDoNotLink) {
  const auto leaf1 = path({1, 3, 2});
  asker.change<wire::PortInfo>(path({1, 3, 2, 1}), 1 | 0x8000'0000U, [](wire::PortInfo& info) {
    info.link_speed_enabled = 1;
    info.link_speed_ext_enabled = 30;
  });
  asker.change<wire::PortInfo>(leaf1, 1 | 0x8000'0000U, [](wire::PortInfo& info) {
    info.link_speed_enabled = 2;
    info.link_speed_ext_enabled = 30;
    info.port_state = PortState::down;
    info.phys_state = PhysState::polling;
  });
  EXPECT_EQ(state(leaf1, 1), PortState::down);
}

TEST(PortStatesOfOtherFirmware, DownAloneTrainsTheLink) {
  auto options = sim::World::default_options();
  options.firmware.down_retrains = true;
  options.training = {.shortest = std::chrono::seconds(5), .longest = std::chrono::seconds(30)};
  sim::World world(two_leaves(), options);
  Asker asker(world);
  const auto leaf1 = path({1, 3, 2});
  const auto shown = [&] { return asker.get<wire::PortInfo>(leaf1, 1).value.port_state; };
  asker.change<wire::PortInfo>(leaf1, 1, [](wire::PortInfo& info) { info.port_state = PortState::down; });

  world.run_for(std::chrono::seconds(4));
  EXPECT_EQ(shown(), PortState::down);
  world.run_for(std::chrono::seconds(27));
  EXPECT_EQ(shown(), PortState::init);
}

TEST(PortStatesOfOtherFirmware, ALinkThatGoesDownWhileItTrainsTrainsForItsWholeTimeAgain) {
  auto options = sim::World::default_options();
  options.training = sim::Training::always(std::chrono::seconds(10));
  sim::World world(two_leaves(), options);
  const sim::Place end{"h1", PortNum{1}};
  const auto flap = [&] {
    world.fabric().faults().link_down(end);
    world.fabric().faults().link_up(end);
  };
  flap();
  world.run_for(std::chrono::seconds(9));
  flap();
  world.run_for(std::chrono::seconds(9));
  EXPECT_EQ(world.fabric().port_info(end)->port_state, PortState::down);
  world.run_for(std::chrono::seconds(2));
  EXPECT_EQ(world.fabric().port_info(end)->port_state, PortState::init);
}

/// two_leaves() in operation, with other OperationalVLs at one end of h1's link.
sim::Fate fate_with_unequal_vls(bool at_once) {
  auto options = sim::World::default_options();
  options.firmware.vls_at_once = at_once;
  sim::World world(two_leaves(), options);
  Asker asker(world);
  bring_up_two_leaves(asker);
  asker.change<wire::PortInfo>(path({1, 3, 2}), 1, [](wire::PortInfo& info) { info.operational_vls = 3; });
  const auto lid = world.fabric().port_info({"h1", PortNum{1}})->lid;
  return world.fabric().send_data({"h0", PortNum{1}}, {.dlid = lid}).fate;
}

TEST(PortStatesOfOtherFirmware, VlsThatCountAtOnceAreUnequalOnALinkInOperation) {
  EXPECT_EQ(fate_with_unequal_vls(true), sim::Fate::unequal_vls);
  EXPECT_EQ(fate_with_unequal_vls(false), sim::Fate::delivered);
}

}  // namespace
}  // namespace smd::test
