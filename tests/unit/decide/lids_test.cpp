// SPDX-License-Identifier: Apache-2.0
// Which LIDs ports keep. What they get anew is in lids_new_test.cpp, full tables are in lids_full_test.cpp.
#include "smd/decide/lids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

#include "tests/unit/decide/support.h"

namespace smd::sm {
namespace {

using ::testing::ElementsAre;

LidPart::Entry entry_of(const LidPart& part, std::uint64_t node, unsigned port) {
  const auto* entry = part.find(test::port_guid(node, port));
  return entry != nullptr ? *entry : LidPart::Entry{};
}
Lid base_of(const LidPart& part, std::uint64_t node, unsigned port = 1) {
  return entry_of(part, node, port).base;
}

struct HostCase {
  std::string_view name;
  PortState state;
  unsigned held, stored;  // 0: none
  LidOptions options;
  unsigned expected;  // 2 is the lowest free LID
};

TEST(Lids, APortKeepsAValidLidOrGetsTheLowestFreeOne) {
  const HostCase cases[]{
      {"held in service", kActive, 7, 0, {}, 7},
      {"held in Armed", PortState::armed, 7, 0, {}, 7},
      {"held in Init", kInit, 7, 0, {}, 7},
      {"held nothing", kInit, 0, 0, {}, 2},
      {"stored, held nothing", kInit, 0, 9, {}, 9},
      {"stored goes before held", kActive, 7, 9, {}, 9},
      {"adopting, held in service goes before stored", kActive, 7, 9, {.adopting = true}, 7},
      {"adopting, in Armed", PortState::armed, 7, 9, {.adopting = true}, 7},
      {"adopting, held in Init does not", kInit, 7, 9, {.adopting = true}, 9},
      {"adopting, the held one is no unicast LID", kActive, 0xC000, 9, {.adopting = true}, 9},
      {"held the highest unicast LID", kActive, 0xBFFF, 0, {}, 0xBFFF},
      {"held a multicast LID", kActive, 0xC000, 0, {}, 2},
      {"held the permissive LID", kActive, 0xFFFF, 0, {}, 2},
      {"held the LID of a switch in service", kActive, 1, 0, {}, 2},
      {"stored is the LID of a switch in service", kInit, 0, 1, {}, 1},  // stored comes first: the switch
                                                                         // moves
      {"held below the range of new LIDs", kActive, 7, 0, {.first = Lid{100}}, 7},
      {"held above the range of new LIDs", kActive, 50, 0, {.last = Lid{40}}, 50},
      {"held nothing, a range is given", kInit, 0, 0, {.first = Lid{100}, .last = Lid{200}}, 100},
      {"held at the cap", kActive, 40, 0, {.cap = Lid{40}}, 40},
      {"held above the cap", kActive, 41, 0, {.cap = Lid{40}}, 2},
      {"stored above the cap", kActive, 7, 41, {.cap = Lid{40}}, 7},
      {"reassigned when adopting", kActive, 7, 9, {.adopting = true, .reassign = true}, 1},
      {"not reassigned later", kActive, 7, 9, {.reassign = true}, 9},
  };
  for (const auto& at : cases) {
    const auto subnet = one_host(at.state, at.held).build();

    const auto part = decide_lids(subnet, at.options, stored_lid(kHost, at.stored));

    EXPECT_EQ(base_of(part, kHost), to_lid(at.expected)) << at.name;
    EXPECT_EQ(part.sm_lid, to_lid(at.expected)) << at.name;
  }
}

struct LmcCase {
  std::string_view name;
  std::uint8_t lmc;
  unsigned held, stored;
  unsigned expected;
};

// IBA: the base LID of a port is a multiple of 2^LMC.
TEST(Lids, ABaseLidIsAMultipleOfTwoToTheLmc) {
  const LmcCase cases[]{
      {"aligned", 1, 8, 0, 8},
      {"not aligned", 1, 7, 0, 2},
      {"aligned for less", 3, 12, 0, 8},
      {"stored aligned", 2, 0, 12, 12},
      {"stored not aligned, held is", 2, 16, 10, 16},
      {"new ones", 2, 0, 0, 4},
      {"the whole range lies below the multicast LIDs", 7, 0xBF80, 0, 0xBF80},
  };
  for (const auto& at : cases) {
    const auto subnet = one_host(kInit, at.held).build();

    const auto part = decide_lids(subnet, {.lmc = at.lmc}, stored_lid(kHost, at.stored));

    const LidPart::Entry expected{test::port_guid(kHost, 1), to_lid(at.expected), at.lmc};
    EXPECT_EQ(entry_of(part, kHost, 1), expected) << at.name;
    EXPECT_EQ(entry_of(part, kSwitch, 0), (LidPart::Entry{Guid{kSwitch}, Lid{1}, 0})) << at.name;
    EXPECT_EQ(part.lmc, at.lmc) << at.name;
    EXPECT_EQ(part.top, to_lid(at.expected + (1U << at.lmc) - 1)) << at.name;
  }
}

TEST(Lids, ARangeThatEndsAboveTheCapIsNotKept) {
  const auto subnet = one_host(kActive, 8).build();

  EXPECT_EQ(base_of(decide_lids(subnet, {.lmc = 2, .cap = Lid{11}}, {}), kHost), Lid{8});
  EXPECT_EQ(base_of(decide_lids(subnet, {.lmc = 2, .cap = Lid{10}}, {}), kHost), Lid{4});
}

struct TwoCase {
  std::string_view name;
  PortState first_state, second_state;
  unsigned stored_of_second;
  bool adopting;
  bool first_keeps;
};

TEST(Lids, OfTwoPortsWithOneLidOneKeepsIt) {
  const TwoCase cases[]{
      {"the lower GUID", kActive, kActive, 0, false, true},
      {"neither in service: the lower GUID", kInit, kInit, 0, false, true},
      {"the one in service", kInit, kActive, 0, false, false},
      {"the one that has it stored", kActive, kActive, 7, false, false},
      {"adopting: in service goes before stored", kActive, kInit, 7, true, true},
  };
  for (const auto& at : cases) {
    auto fabric = one_host(at.first_state, 7);
    fabric.host(kOther, kSwitch, 2, at.second_state).lid(kOther, 1, 7);

    const auto part =
        decide_lids(fabric.build(), {.adopting = at.adopting}, stored_lid(kOther, at.stored_of_second));

    EXPECT_EQ(base_of(part, at.first_keeps ? kHost : kOther), Lid{7}) << at.name;
    const auto loser = base_of(part, at.first_keeps ? kOther : kHost);
    EXPECT_TRUE(loser.unicast() && loser != Lid{7} && loser != Lid{1}) << at.name << ": " << loser.value();
  }
}

/// Two hosts with one LID: one of our part, one of another master's.
TEST(Lids, OfTwoPartsThatAreJoinedTheOneWithMoreAdaptersKeepsItsLids) {
  constexpr std::uint64_t kAnother = 0x300;
  for (const bool larger : {false, true}) {
    auto fabric = one_host(kActive, 7);
    fabric.host(kOther, kSwitch, 2, kActive).lid(kOther, 1, 7);
    if (larger) fabric.host(kAnother, kSwitch, 3, kActive).lid(kAnother, 1, 8);
    LidPart ours;
    ours.entries.push_back({test::port_guid(kHost, 1), Lid{7}, 0});

    const auto part = decide_lids(fabric.build(), {.ours = &ours, .adopting = true}, stored_lid(kHost, 7));

    EXPECT_EQ(base_of(part, larger ? kOther : kHost), Lid{7});
    EXPECT_NE(base_of(part, larger ? kHost : kOther), Lid{7});
    if (larger) EXPECT_EQ(base_of(part, kAnother), Lid{8});
  }
}

TEST(Lids, RangesOfTwoPortsDoNotOverlap) {
  SubnetBuilder fabric;
  fabric.add_switch(kSwitch).lid(kSwitch, 0, 10).host(kHost, kSwitch, 1).lid(kHost, 1, 8, 2);

  const auto part = decide_lids(fabric.build(), {.lmc = 2}, {});

  // The switch has the lower GUID and 10 is within 8 to 11.
  EXPECT_EQ(base_of(part, kSwitch, 0), Lid{10});
  EXPECT_EQ(base_of(part, kHost), Lid{4});
}

TEST(Lids, StoredLidsOfTwoPortsThatOverlapAreKeptByOne) {
  auto fabric = one_host(kInit, 0);
  fabric.host(kOther, kSwitch, 2, kInit);
  auto stored = stored_lid(kHost, 12);
  stored.lids[test::port_guid(kOther, 1)] = {Lid{12}, 0};

  const auto part = decide_lids(fabric.build(), {}, stored);

  EXPECT_EQ(base_of(part, kHost), Lid{12});
  EXPECT_NE(base_of(part, kOther), Lid{12});
  EXPECT_NE(base_of(part, kOther), Lid{});
}

TEST(Lids, OnlyEndPortsHaveLids) {
  SubnetBuilder fabric;
  fabric.add_switch(kSwitch).add_ca(kHost, 3).add_router(kOther, 1).sm(kHost, 1);
  fabric.link(kSwitch, 1, kHost, 1).link(kSwitch, 2, kHost, 2).link(kSwitch, 4, kOther, 1);
  fabric.link(kSwitch, 3, kHost, 3, PortState::down);

  const auto part = decide_lids(fabric.build(), {}, {});

  std::vector<Guid> ports;
  for (const auto& entry : part.entries) ports.push_back(entry.port);
  EXPECT_THAT(ports, ElementsAre(Guid{kSwitch}, test::port_guid(kHost, 1), test::port_guid(kHost, 2),
                                 test::port_guid(kOther, 1)));
  EXPECT_TRUE(part.without_lid.empty());
}

TEST(Lids, APortThatWasNotReadGetsNone) {
  auto fabric = one_host(kActive, 7);
  fabric.port(kHost, 1).known = false;
  fabric.port(kSwitch, 0).known = false;

  const auto part = decide_lids(fabric.build(), {}, stored_lid(kHost, 9));

  EXPECT_TRUE(part.entries.empty());
  EXPECT_EQ(part.top, Lid{});
}

TEST(Lids, TwoHostsBackToBackHaveOneEach) {
  SubnetBuilder fabric;
  fabric.add_ca(kHost).add_ca(kOther).link(kHost, 1, kOther, 1, kInit).sm(kHost, 1);

  const auto part = decide_lids(fabric.build(), {}, {});

  EXPECT_EQ(part.entries.size(), 2U);
  EXPECT_NE(base_of(part, kHost), base_of(part, kOther));
  EXPECT_TRUE(base_of(part, kHost).unicast() && base_of(part, kOther).unicast());
}

TEST(Lids, TheSmOnASwitchHasTheLidOfThatSwitch) {
  const auto part = decide_lids(one_host(kActive, 7).sm(kSwitch, 0).build(), {}, {});

  EXPECT_EQ(part.sm_lid, Lid{1});
}

TEST(Lids, TheyDependOnNoStateOnceTheyAreStored) {
  auto fabric = one_host(kInit, 0);
  fabric.host(kOther, kSwitch, 2, kInit).add_switch(0x20).link(kSwitch, 3, 0x20, 1);
  const auto first = decide_lids(fabric.build(), {.lmc = 1}, {});
  Stored stored;
  for (const auto& entry : first.entries) stored.lids[entry.port] = {entry.base, entry.lmc};

  fabric.state(kHost, 1, kActive).lid(kHost, 1, 30).lid(kSwitch, 0, 0).lid(0x20, 0, 5);

  EXPECT_EQ(decide_lids(fabric.build(), {.lmc = 1}, stored), first);
}

}  // namespace
}  // namespace smd::sm
