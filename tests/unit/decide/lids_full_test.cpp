// SPDX-License-Identifier: Apache-2.0
// LIDs where there are too few: a range that is full, forwarding tables that are too small.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "smd/decide/lids.h"
#include "tests/unit/decide/support.h"

namespace smd::sm {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::UnorderedElementsAre;

constexpr std::uint64_t kSpine = 0x10, kLeaf = 0x20;

std::uint64_t crowd_host(unsigned number) { return 0x1000 + 0x10 * number; }
Guid crowd_port(unsigned number) { return test::port_guid(crowd_host(number), 1); }

/// A spine without hosts and a leaf with `hosts` of them, all in Init without LIDs; the SM is on the last.
SubnetBuilder crowd(unsigned hosts, unsigned leaf_cap = 0xC000) {
  SubnetBuilder fabric;
  fabric.add_switch(kSpine, 16).add_switch(kLeaf, 16).link(kSpine, 16, kLeaf, 16);
  fabric.node(kLeaf).switch_info->linear_fdb_cap = static_cast<std::uint16_t>(leaf_cap);
  fabric.node(kSpine).switch_info->linear_fdb_cap = static_cast<std::uint16_t>(leaf_cap);
  for (unsigned i = 1; i <= hosts; ++i) fabric.host(crowd_host(i), kLeaf, i, PortState::init);
  return fabric.sm(crowd_host(hosts), 1);
}

std::vector<Guid> with_lid(const LidPart& part) {
  std::vector<Guid> ports;
  for (const auto& entry : part.entries) ports.push_back(entry.port);
  return ports;
}

/// No two ports have a LID in common.
void expect_unique(const LidPart& part) {
  std::set<unsigned> seen;
  for (const auto& entry : part.entries) {
    for (unsigned lid = entry.base.value(); lid < entry.base.value() + (1U << entry.lmc); ++lid)
      EXPECT_TRUE(seen.insert(lid).second) << "LID " << lid << " twice";
  }
}

TEST(FullLids, AllPortsHaveOneWhereThereAreJustEnough) {
  const auto part = decide_lids(crowd(4).build(), {.last = Lid{6}}, {});

  EXPECT_EQ(part.entries.size(), 6U);
  EXPECT_THAT(part.without_lid, IsEmpty());
  EXPECT_EQ(part.top, Lid{6});
  EXPECT_EQ(part.not_held_from, 0U);
  expect_unique(part);
}

TEST(FullLids, TheSmComesFirstThenTheSwitchesThenHosts) {
  const struct {
    unsigned last;
    std::vector<Guid> with, without;
  } cases[]{
      {5, {Guid{kSpine}, Guid{kLeaf}, crowd_port(1), crowd_port(2), crowd_port(4)}, {crowd_port(3)}},
      {3, {Guid{kSpine}, Guid{kLeaf}, crowd_port(4)}, {crowd_port(1), crowd_port(2), crowd_port(3)}},
      {2, {Guid{kSpine}, crowd_port(4)}, {Guid{kLeaf}, crowd_port(1), crowd_port(2), crowd_port(3)}},
      {1, {crowd_port(4)}, {Guid{kSpine}, Guid{kLeaf}, crowd_port(1), crowd_port(2), crowd_port(3)}},
  };
  for (const auto& at : cases) {
    const auto part = decide_lids(crowd(4).build(), {.last = to_lid(at.last)}, {});

    EXPECT_EQ(with_lid(part), at.with) << at.last;
    EXPECT_EQ(part.without_lid, at.without) << at.last;
    EXPECT_EQ(part.sm_lid, base_lid(part, crowd_port(4))) << at.last;
    EXPECT_EQ(part.top, to_lid(at.last)) << at.last;
    expect_unique(part);
  }
}

TEST(FullLids, ALidThatIsHeldIsKeptForAPortThatComesLast) {
  auto fabric = crowd(3);
  fabric.lid(crowd_host(1), 1, 2).state(crowd_host(1), 1, PortState::active);

  const auto part = decide_lids(fabric.build(), {.last = Lid{3}}, {});

  EXPECT_THAT(with_lid(part), ElementsAre(Guid{kSpine}, crowd_port(1), crowd_port(3)));
  EXPECT_EQ(base_lid(part, crowd_port(1)), Lid{2});
}

TEST(FullLids, ALidOfAnAbsentPortIsTakenOnlyWhereItIsNeeded) {
  Stored stored;
  stored.lids[Guid{0xABC}] = {Lid{1}, 0};

  const auto roomy = decide_lids(crowd(2).build(), {.last = Lid{5}}, stored);
  const auto tight = decide_lids(crowd(2).build(), {.last = Lid{4}}, stored);

  for (const auto& entry : roomy.entries) EXPECT_NE(entry.base, Lid{1});
  EXPECT_EQ(roomy.entries.size(), 4U);
  EXPECT_EQ(tight.entries.size(), 4U);
  EXPECT_THAT(tight.without_lid, IsEmpty());
  expect_unique(tight);
}

TEST(SmallTables, ATableThatHoldsAllLidsChangesNothing) {
  // LinearFDBCap 7: entries for LIDs up to 6, and four hosts and two switches need 6.
  const auto part = decide_lids(crowd(4, 7).build(), {}, {});

  EXPECT_EQ(part.entries.size(), 6U);
  EXPECT_EQ(part.not_held_from, 0U);
  EXPECT_EQ(part.top, Lid{6});
  expect_unique(part);
}

TEST(SmallTables, HostsGetTheLidsThatTablesHoldAndSwitchesTheOthers) {
  // One entry less: LIDs 1 to 5 are routed.
  const auto part = decide_lids(crowd(4, 6).build(), {}, {});

  std::vector<unsigned> hosts;
  for (unsigned i = 1; i <= 4; ++i) hosts.push_back(base_lid(part, crowd_port(i)).value());
  EXPECT_THAT(hosts, Each(AllOf(Ge(1U), Le(5U))));
  std::vector<unsigned> switches{base_lid(part, Guid{kSpine}).value(), base_lid(part, Guid{kLeaf}).value()};
  EXPECT_EQ(std::ranges::count_if(switches, [](unsigned lid) { return lid <= 5; }), 1);
  EXPECT_EQ(std::ranges::max(switches), 6U);
  EXPECT_EQ(part.not_held_from, 6U);
  EXPECT_EQ(part.top, Lid{5});
  EXPECT_THAT(part.without_lid, IsEmpty());
  expect_unique(part);
}

TEST(SmallTables, HostsThatNoTableHoldsAreLeftOutAndTheSmComesFirst) {
  const auto part = decide_lids(crowd(4, 4).build(), {}, {});  // LIDs 1 to 3

  EXPECT_EQ(part.without_lid.size(), 1U);
  EXPECT_NE(part.find(crowd_port(4)), nullptr);
  EXPECT_EQ(base_lid(part, Guid{kSpine}), Lid{4});
  EXPECT_EQ(base_lid(part, Guid{kLeaf}), Lid{5});
  EXPECT_EQ(part.not_held_from, 4U);
  EXPECT_EQ(part.top, Lid{3});
  expect_unique(part);
}

TEST(SmallTables, ASwitchKeepsALidThatNoTableHoldsAndAHostDoesNot) {
  auto fabric = crowd(4, 4);
  fabric.lid(kSpine, 0, 30).lid(crowd_host(4), 1, 31).state(crowd_host(4), 1, PortState::active);

  const auto part = decide_lids(fabric.build(), {}, {});

  EXPECT_EQ(base_lid(part, Guid{kSpine}), Lid{30});
  EXPECT_THAT(base_lid(part, crowd_port(4)).value(), AllOf(Ge(1U), Le(3U)));
}

TEST(SmallTables, OneSmallSwitchIsRoutedRoundAndLimitsNoLid) {
  auto fabric = crowd(4);
  fabric.node(kSpine).switch_info->linear_fdb_cap = 3;

  const auto part = decide_lids(fabric.build(), {}, {});

  EXPECT_EQ(part.entries.size(), 6U);
  EXPECT_EQ(part.not_held_from, 0U);
}

TEST(SmallTables, TheCapOfTheOptionsIsNoLimitOfTables) {
  const auto part = decide_lids(crowd(4).build(), {.cap = Lid{3}}, {});

  EXPECT_EQ(part.entries.size(), 3U);
  EXPECT_THAT(part.without_lid, UnorderedElementsAre(crowd_port(1), crowd_port(2), crowd_port(3)));
  EXPECT_EQ(part.not_held_from, 0U);
}

}  // namespace
}  // namespace smd::sm
