// SPDX-License-Identifier: Apache-2.0
// Which LIDs ports get that have none: blocks of leaves, and LIDs that are left free.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "smd/decide/lids.h"
#include "tests/unit/decide/support.h"

namespace smd::sm {
namespace {

using ::testing::ElementsAre;

// Leaves 0x10 and 0x20 hold the LIDs 1 and 2. Host 0xL0P is on port P of leaf 0xL0.
constexpr std::uint64_t kLeaf1 = 0x10, kLeaf2 = 0x20;

std::uint64_t host_at(std::uint64_t leaf, unsigned port) { return leaf * 0x100 + port * 0x10; }

/// With as many hosts in Init on the ports from 1 on.
SubnetBuilder two_leaves(unsigned hosts1, unsigned hosts2) {
  SubnetBuilder fabric;
  fabric.add_switch(kLeaf1).add_switch(kLeaf2).link(kLeaf1, 8, kLeaf2, 8);
  fabric.lid(kLeaf1, 0, 1).lid(kLeaf2, 0, 2);
  for (unsigned p = 1; p <= hosts1; ++p) fabric.host(host_at(kLeaf1, p), kLeaf1, p, PortState::init);
  for (unsigned p = 1; p <= hosts2; ++p) fabric.host(host_at(kLeaf2, p), kLeaf2, p, PortState::init);
  return fabric.sm(host_at(kLeaf1, 1), 1);
}

/// Base LIDs of the hosts on the ports from 1 on; 0: none.
std::vector<unsigned> leaf_lids(const LidPart& part, std::uint64_t leaf, unsigned hosts) {
  std::vector<unsigned> lids;
  for (unsigned p = 1; p <= hosts; ++p)
    lids.push_back(base_lid(part, test::port_guid(host_at(leaf, p), 1)).value());
  return lids;
}

void store(Stored& stored, Guid port, unsigned lid, std::uint8_t lmc = 0) {
  stored.lids[port] = {to_lid(lid), lmc};
}

TEST(NewLids, TheHostsOfALeafLieInOneBlockInTheOrderOfItsPorts) {
  // 3 hosts: 4 LIDs at a multiple of 4; 2 hosts: 2 at a multiple of 2.
  const auto part = decide_lids(two_leaves(3, 2).build(), {}, {});

  EXPECT_THAT(leaf_lids(part, kLeaf1, 3), ElementsAre(4, 5, 6));
  EXPECT_THAT(leaf_lids(part, kLeaf2, 2), ElementsAre(8, 9));
}

TEST(NewLids, TheOrderOfTheHostsIsThatOfThePortsNotOfTheGuids) {
  SubnetBuilder fabric;
  fabric.add_switch(kLeaf1).lid(kLeaf1, 0, 1);
  fabric.host(0x900, kLeaf1, 1, PortState::init).host(0x800, kLeaf1, 2, PortState::init);

  const auto part = decide_lids(fabric.build(), {}, {});

  EXPECT_EQ(base_lid(part, Guid{0x901}), Lid{2});
  EXPECT_EQ(base_lid(part, Guid{0x801}), Lid{3});
}

TEST(NewLids, ABlockHoldsAllLidsOfItsHosts) {
  // LMC 1: 3 hosts take 6 LIDs of a block of 8; 2 hosts a block of 4.
  const auto part = decide_lids(two_leaves(3, 2).build(), {.lmc = 1}, {});

  EXPECT_THAT(leaf_lids(part, kLeaf1, 3), ElementsAre(8, 10, 12));
  EXPECT_THAT(leaf_lids(part, kLeaf2, 2), ElementsAre(4, 6));
}

TEST(NewLids, BlocksAreNotAlignedWhereTheSpaceIsTooSmallForThat) {
  // Aligned they take 2 + 4 + 2 LIDs, and there are 7.
  const auto part = decide_lids(two_leaves(3, 2).build(), {.last = Lid{7}}, {});

  EXPECT_THAT(leaf_lids(part, kLeaf1, 3), ElementsAre(3, 4, 5));
  EXPECT_THAT(leaf_lids(part, kLeaf2, 2), ElementsAre(6, 7));
  EXPECT_TRUE(part.without_lid.empty());
}

TEST(NewLids, OneMoreLidIsEnoughForAlignedBlocks) {
  // 8 LIDs from 3 on: block 4 to 7 and block 8 to 9, and the leaves hold theirs outside.
  const auto part = decide_lids(two_leaves(3, 2).build(), {.first = Lid{3}, .last = Lid{10}}, {});

  EXPECT_THAT(leaf_lids(part, kLeaf1, 3), ElementsAre(4, 5, 6));
  EXPECT_THAT(leaf_lids(part, kLeaf2, 2), ElementsAre(8, 9));
}

TEST(NewLids, SwitchesGetTheLowestThatTheBlocksLeave) {
  auto fabric = two_leaves(3, 2);
  fabric.lid(kLeaf1, 0, 0).lid(kLeaf2, 0, 0);

  const auto part = decide_lids(fabric.build(), {}, {});

  EXPECT_THAT(leaf_lids(part, kLeaf1, 3), ElementsAre(4, 5, 6));
  EXPECT_THAT(leaf_lids(part, kLeaf2, 2), ElementsAre(2, 3));
  EXPECT_EQ(base_lid(part, Guid{kLeaf1}), Lid{1});
  EXPECT_EQ(base_lid(part, Guid{kLeaf2}), Lid{7});
}

struct SiblingCase {
  std::string_view name;
  std::uint8_t lmc;
  std::vector<unsigned> stored;  // of the hosts on the ports from 1 on; 0: the newcomers
  std::vector<unsigned> expected;
};

TEST(NewLids, ANewcomerGetsALidBesideTheOtherHostsOfItsLeaf) {
  const SiblingCase cases[]{
      {"the hole behind them", 0, {8, 9, 0}, {8, 9, 10}},
      {"the hole before them", 0, {10, 11, 0}, {10, 11, 8}},
      {"the block with most of them", 0, {8, 20, 21, 0}, {8, 20, 21, 22}},
      {"of equal blocks the lower", 0, {20, 40, 0}, {20, 40, 21}},
      {"several newcomers", 0, {8, 0, 0}, {8, 9, 10}},
      {"the next block where the first is full", 0, {8, 9, 10, 11, 0, 16}, {8, 9, 10, 11, 12, 16}},
      {"whole ranges", 1, {8, 10, 0}, {8, 10, 12}},
  };
  for (const auto& at : cases) {
    const auto hosts = static_cast<unsigned>(at.stored.size());
    Stored stored;
    for (unsigned p = 1; p <= hosts; ++p) {
      if (at.stored[p - 1] != 0)
        store(stored, test::port_guid(host_at(kLeaf1, p), 1), at.stored[p - 1], at.lmc);
    }

    const auto part = decide_lids(two_leaves(hosts, 0).build(), {.lmc = at.lmc}, stored);

    EXPECT_EQ(leaf_lids(part, kLeaf1, hosts), at.expected) << at.name;
  }
}

TEST(NewLids, ANewcomerGetsTheLowestFreeOneWhereItsBlocksAreFull) {
  // Three hosts: a block of 4 from 8 on, in which another leaf's host has the last LID.
  Stored stored;
  store(stored, test::port_guid(host_at(kLeaf1, 1), 1), 8);
  store(stored, test::port_guid(host_at(kLeaf1, 2), 1), 9);
  store(stored, test::port_guid(host_at(kLeaf2, 1), 1), 10);
  store(stored, test::port_guid(host_at(kLeaf2, 2), 1), 11);

  const auto part = decide_lids(two_leaves(3, 2).build(), {}, stored);

  EXPECT_THAT(leaf_lids(part, kLeaf1, 3), ElementsAre(8, 9, 3));
}

TEST(NewLids, ABlockWithinTheRangeOfNewLidsIsFilledWithinIt) {
  Stored stored;
  store(stored, test::port_guid(host_at(kLeaf1, 1), 1), 8);
  store(stored, test::port_guid(host_at(kLeaf1, 2), 1), 9);

  const auto part = decide_lids(two_leaves(3, 0).build(), {.first = Lid{11}, .last = Lid{50}}, stored);

  EXPECT_THAT(leaf_lids(part, kLeaf1, 3), ElementsAre(8, 9, 11));
}

struct AbsentCase {
  std::string_view name;
  unsigned lid;
  std::uint8_t lmc;
  LidOptions options;
  unsigned expected;  // of the only host; 3 is the lowest that is free
};

TEST(NewLids, StoredLidsOfAbsentPortsAreLeftFreeWhileThereIsRoom) {
  const AbsentCase cases[]{
      {"the one", 3, 0, {}, 4},
      {"the whole range", 4, 2, {.first = Lid{4}}, 8},
      {"another one", 9, 0, {}, 3},
      {"no room", 3, 0, {.last = Lid{3}}, 3},
      {"forgotten when LIDs are given anew", 3, 0, {.first = Lid{3}, .adopting = true, .reassign = true}, 3},
  };
  for (const auto& at : cases) {
    Stored stored;
    store(stored, Guid{0xABC}, at.lid, at.lmc);

    const auto part = decide_lids(two_leaves(1, 0).build(), at.options, stored);

    EXPECT_THAT(leaf_lids(part, kLeaf1, 1), ElementsAre(at.expected)) << at.name;
    EXPECT_EQ(part.find(Guid{0xABC}), nullptr) << at.name;
  }
}

TEST(NewLids, ALidThatAPortInServiceGivesUpIsNotGivenToANewcomer) {
  // The host of leaf 2 gets 9, as stored; the newcomer on leaf 1 would get 3, the lowest free LID.
  struct Case {
    std::string_view name;
    PortState state;
    unsigned held;
    std::uint8_t held_lmc;
    Lid last;
    unsigned expected;
  };
  const Case cases[]{
      {"in service", PortState::active, 3, 0, kLastUnicastLid, 4},
      {"Armed", PortState::armed, 3, 0, kLastUnicastLid, 4},
      {"not in service", PortState::init, 3, 0, kLastUnicastLid, 3},
      {"another LID", PortState::active, 7, 0, kLastUnicastLid, 3},
      {"a range", PortState::active, 4, 2, Lid{9}, 3},
      {"no other LID is left", PortState::active, 3, 0, Lid{3}, 3},
  };
  for (const auto& at : cases) {
    auto fabric = two_leaves(1, 1);
    fabric.state(host_at(kLeaf2, 1), 1, at.state).lid(host_at(kLeaf2, 1), 1, at.held, at.held_lmc);
    Stored stored;
    store(stored, test::port_guid(host_at(kLeaf2, 1), 1), 9);

    const auto part = decide_lids(fabric.build(), {.last = at.last}, stored);

    EXPECT_THAT(leaf_lids(part, kLeaf1, 1), ElementsAre(at.expected)) << at.name;
    EXPECT_THAT(leaf_lids(part, kLeaf2, 1), ElementsAre(9)) << at.name;
  }
}

TEST(NewLids, ARangeThatIsGivenUpIsLeftFreeAsAWhole) {
  // From LIDs 4 to 7 to 9; two newcomers would get 4 and 5.
  auto fabric = two_leaves(2, 1);
  fabric.state(host_at(kLeaf2, 1), 1, PortState::active).lid(host_at(kLeaf2, 1), 1, 4, 2);
  Stored stored;
  store(stored, test::port_guid(host_at(kLeaf2, 1), 1), 9);

  const auto part = decide_lids(fabric.build(), {}, stored);

  EXPECT_THAT(leaf_lids(part, kLeaf1, 2), ElementsAre(10, 11));
}

}  // namespace
}  // namespace smd::sm
