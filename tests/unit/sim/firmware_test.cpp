// SPDX-License-Identifier: Apache-2.0
// Where firmware differs: each choice, through SMPs.
#include <gtest/gtest.h>

#include <set>

#include "mad/wire/capability.h"
#include "tests/support/sim_lab.h"

namespace smd::test {
namespace {

constexpr std::uint32_t kExtended = 0x8000'0000U;

/// A fabric of devices that choose like this.
struct Lab {
  explicit Lab(const sim::Firmware& firmware) : world(two_leaves(), options(firmware)) {}
  static sim::Options options(const sim::Firmware& firmware) {
    auto options = sim::World::default_options();
    options.firmware = firmware;
    return options;
  }
  template <class Change>
  std::uint16_t set_port(const mad::DirectedPath& way, std::uint32_t port, Change change) {
    return asker.change<wire::PortInfo>(way, port | kExtended, change).status;
  }
  std::uint16_t ask_for(const mad::DirectedPath& way, std::uint32_t port, PortState wanted) {
    return set_port(way, port, [wanted](wire::PortInfo& info) { info.port_state = wanted; });
  }
  wire::PortInfo port(const mad::DirectedPath& way, std::uint32_t number) {
    return asker.get<wire::PortInfo>(way, number | kExtended).value;
  }
  bool changed(const mad::DirectedPath& way) {
    return asker.get<wire::SwitchInfo>(way).value.port_state_change;
  }
  void clear(const mad::DirectedPath& way) {
    asker.change<wire::SwitchInfo>(way, 0, [](wire::SwitchInfo& info) { info.port_state_change = true; });
  }

  sim::World world;
  Asker asker{world};
  sim::Faults faults = world.fabric().faults();
  mad::DirectedPath leaf0 = path({1}), spine = path({1, 3}), leaf1 = path({1, 3, 2});
};

TEST(Firmware, ASetOfAPortsStateIsNoChangeAtItsOwnSwitch) {
  for (const bool edges : {true, false}) {
    Lab lab({.edge_traps = edges});
    lab.clear(lab.leaf1);

    lab.set_port(lab.leaf1, 1, [](wire::PortInfo& info) { info.phys_state = PhysState::disabled; });

    EXPECT_EQ(lab.changed(lab.leaf1), !edges);
  }
}

TEST(Firmware, APortThatIsDownShowsAnythingButItsStateAndWhatIsEnabled) {
  Lab lab({.restless_down_ports = true});
  std::set<unsigned> widths, mtus, enabled, linked;
  for (unsigned i = 0; i < 8; ++i) {
    const auto down = lab.port(lab.leaf1, 4);
    EXPECT_EQ(down.port_state, PortState::down);
    widths.insert(down.link_width_active);
    mtus.insert(static_cast<unsigned>(down.neighbor_mtu));
    enabled.insert(down.link_width_enabled);
    linked.insert(lab.port(lab.leaf1, 3).link_width_active);
  }
  EXPECT_GT(widths.size(), 1U);
  EXPECT_GT(mtus.size(), 1U);
  EXPECT_EQ(enabled.size(), 1U);
  EXPECT_EQ(linked.size(), 1U);
}

TEST(Firmware, ActiveIsRefusedByAPortThatIsActive) {
  for (const bool refuses : {true, false}) {
    Lab lab({.refuses_active_again = refuses});
    lab.ask_for(lab.leaf0, 3, PortState::armed);
    lab.ask_for(lab.spine, 1, PortState::armed);
    ASSERT_EQ(lab.ask_for(lab.leaf0, 3, PortState::active), wire::kStatusOk);

    EXPECT_EQ(lab.ask_for(lab.leaf0, 3, PortState::active),
              refuses ? wire::kStatusBadField : wire::kStatusOk);
    EXPECT_EQ(lab.port(lab.leaf0, 3).port_state, PortState::active);
  }
}

TEST(Firmware, APacketTakesThePortWhereItComesInFromArmedToActive) {
  for (const bool activates : {true, false}) {
    Lab lab({.data_activates = activates});
    const auto host = path({1, 3, 2, 1});  // h1
    lab.ask_for(lab.leaf1, 1, PortState::armed);
    lab.ask_for(host, 1, PortState::armed);
    lab.ask_for(host, 1, PortState::active);
    ASSERT_EQ(lab.port(lab.leaf1, 1).port_state, PortState::armed);

    lab.world.fabric().send_data({"h1"}, {.dlid = Lid{1}});

    EXPECT_EQ(lab.port(lab.leaf1, 1).port_state, activates ? PortState::active : PortState::armed);
  }
}

TEST(Firmware, SpeedsThatAreSwitchedOffShowAs30OrAsNothing) {
  for (const bool shows : {true, false}) {
    Lab lab({.shows_speed_off = shows});
    lab.set_port(lab.leaf1, 1, [](wire::PortInfo& info) {
      info.link_speed_ext_enabled = 30;
      info.port_state = PortState::down;
      info.phys_state = PhysState::polling;  // Down alone does not train the link again
    });

    const auto now = lab.port(lab.leaf1, 1);

    EXPECT_EQ(now.link_speed_ext_enabled, shows ? 30 : 0);
    EXPECT_EQ(now.link_speed_ext_active, 0);
    EXPECT_EQ(now.link_speed_active, 4);
  }
}

TEST(Firmware, TwoEndsInSleepDoNotFindEachOtherAgain) {
  for (const auto far : {PhysState::sleep, PhysState::polling}) {
    Lab lab({.down_default = PhysState::sleep});
    const auto host = path({1, 3, 2, 1});
    lab.set_port(host, 1, [far](wire::PortInfo& info) { info.link_down_default = far; });
    lab.faults.link_down({"h1"});
    EXPECT_EQ(lab.port(lab.leaf1, 1).phys_state, PhysState::sleep);

    lab.faults.link_up({"h1"});
    lab.world.run_for(std::chrono::seconds(1));

    EXPECT_EQ(lab.port(lab.leaf1, 1).port_state,
              far == PhysState::polling ? PortState::init : PortState::down);
  }
}

TEST(Firmware, MulticastFdbTopIsKeptWhereItIsSupported) {
  for (const auto top : {sim::MulticastTop::unsupported, sim::MulticastTop::zero_is_all}) {
    Lab lab({.multicast_top = top});
    const bool supported = top != sim::MulticastTop::unsupported;
    EXPECT_EQ(wire::has(lab.port(lab.leaf1, 0), wire::kCapMulticastFdbTop), supported);

    lab.asker.change<wire::SwitchInfo>(lab.leaf1, 0,
                                       [](wire::SwitchInfo& info) { info.multicast_fdb_top = 0xC01F; });

    EXPECT_EQ(lab.asker.get<wire::SwitchInfo>(lab.leaf1).value.multicast_fdb_top, supported ? 0xC01F : 0);
  }
}

}  // namespace
}  // namespace smd::test
