// SPDX-License-Identifier: Apache-2.0
// Which parts of multicast forwarding tables are planned, and in which order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string_view>
#include <vector>

#include "mad/wire/capability.h"
#include "smd/plan/plan.h"
#include "smd/plan/top_round.h"
#include "smd/sweep/mft.h"
#include "smd/sweep/unkept_entries.h"
#include "tests/unit/plan/support.h"

namespace smd::sm {
namespace {

using ::testing::ElementsAre;

/// MLID 0xC000 to the ports of a mask.
std::shared_ptr<const routing::McRow> mc_row(unsigned long ports) {
  auto row = std::make_shared<routing::McRow>();
  row->set(0, routing::PortMask(ports));
  return row;
}

/// A table of which so many blocks were read, some parts of them without an answer.
HeldMft held(std::shared_ptr<const routing::McRow> row, std::size_t blocks_read,
             const BlockSet& unknown = {}) {
  const auto read = BlockSet::first(mft_part(blocks_read, 0));
  return {std::move(row), read.without(unknown), read};
}

TEST(PlanMft, PartsThatDifferOrAreNotKnownArePlanned) {
  const struct {
    std::string_view name;
    HeldMft table;
    std::vector<std::size_t> expected;
  } cases[]{
      {"as decided", held(mc_row(0x102), 4), {}},
      {"a port more", held(mc_row(0x002), 4), {mft_part(0, 0)}},
      {"empty", held(nullptr, 4), {mft_part(0, 0)}},
      {"not read", held(nullptr, 0), {mft_part(0, 0)}},
      {"read, but one part", held(mc_row(0x102), 4, blocks({mft_part(0, 0)})), {mft_part(0, 0)}},
      {"a part behind the groups is not known", held(mc_row(0x102), 4, blocks({mft_part(2, 0)})), {}},
  };
  for (const auto& at : cases) {
    auto made = tables_after([&](SubnetBuilder& fabric) { fabric.node(kRingC).mft = at.table; });
    made.groups({{Guid{kRingC}, mc_row(0x102)}}, 1);

    const auto plan = made.plan();

    ASSERT_EQ(plan.rounds.size(), at.expected.empty() ? 0U : 1U) << at.name;
    if (at.expected.empty()) continue;
    EXPECT_EQ(plan.rounds[0].phase, Phase::mft);
    ASSERT_EQ(plan.rounds[0].mfts.size(), 1U);
    EXPECT_EQ(plan.rounds[0].mfts[0].node, made.index(kRingC));
    std::vector<std::size_t> parts;
    plan.rounds[0].mfts[0].parts.for_each([&](std::size_t part) { parts.push_back(part); });
    EXPECT_EQ(parts, at.expected) << at.name;
    EXPECT_EQ(*plan.rounds[0].mfts[0].content, *mc_row(0x102)) << at.name;
  }
}

TEST(PlanMft, ABlockThatWasNotReadIsPlannedUpToTheLastGroupThoughNothingIsToStandInIt) {
  auto made = tables_after([](SubnetBuilder& fabric) { fabric.node(kRingC).mft = held(mc_row(0x102), 1); });
  made.groups({{Guid{kRingC}, mc_row(0x102)}}, 32);  // all of block 0
  EXPECT_TRUE(made.plan().empty());

  made.groups({{Guid{kRingC}, mc_row(0x102)}}, 33);
  const auto plan = made.plan();
  ASSERT_THAT(phases_of(plan), ElementsAre(Phase::mft));
  EXPECT_THAT(plan.rounds[0].mfts,
              ElementsAre(MftItem{made.index(kRingC), blocks({mft_part(1, 0)}), mc_row(0x102)}));
}

TEST(PlanMft, ATreeThatTheOldOneWouldCloseToALoopIsWrittenInTwoRounds) {
  // The group is on A, B and C. Its tree was A-C-B and is to be A-B and A-C: with both there is a loop.
  auto made = tables_after([](SubnetBuilder& fabric) {
    fabric.node(kRingA).mft = held(mc_row(1U << 1), 4);
    fabric.node(kRingB).mft = held(mc_row(1U << 1), 4);
    fabric.node(kRingC).mft = held(mc_row(1U << 1 | 1U << 2), 4);
  });
  made.groups({{Guid{kRingA}, mc_row(1U << 1 | 1U << 3)},
               {Guid{kRingB}, mc_row(1U << 3)},
               {Guid{kRingC}, mc_row(1U << 1)}},
              1);

  const auto plan = made.plan();

  ASSERT_THAT(phases_of(plan), ElementsAre(Phase::mft, Phase::mft));
  // First nothing goes over the link of B and C, and nothing over that of A and B yet.
  for (const auto& item : plan.rounds[0].mfts) {
    const auto ports = routing::entry(item.content.get(), 0);
    if (item.node == made.index(kRingA)) EXPECT_FALSE(ports.test(3));
    if (item.node == made.index(kRingB)) EXPECT_FALSE(ports.test(1) || ports.test(3));
    if (item.node == made.index(kRingC)) EXPECT_FALSE(ports.test(2));
  }
  EXPECT_THAT(plan.rounds[1].mfts,
              ElementsAre(MftItem{made.index(kRingA), blocks({0}), mc_row(1U << 1 | 1U << 3)},
                          MftItem{made.index(kRingB), blocks({0}), mc_row(1U << 3)}));
}

TEST(PlanMft, ATreeThatGrowsIsWrittenInOneRound) {
  auto made = tables_after([](SubnetBuilder& fabric) {
    fabric.node(kRingA).mft = held(mc_row(1U << 1), 4);
    fabric.node(kRingC).mft = held(mc_row(1U << 1), 4);
  });
  made.groups({{Guid{kRingA}, mc_row(1U << 1)},
               {Guid{kRingB}, mc_row(1U << 1)},
               {Guid{kRingC}, mc_row(1U << 1 | 1U << 2)}},
              1);

  const auto plan = made.plan();

  ASSERT_THAT(phases_of(plan), ElementsAre(Phase::mft));
  EXPECT_EQ(plan.rounds[0].mfts.size(), 2U);
}

TEST(PlanMft, AMaskThatASwitchDoesNotKeepIsPlannedAgainOnlyWhereAnotherIsDecided) {
  auto made = tables_after([](SubnetBuilder& fabric) {
    fabric.node(kRingC).mft = held(mc_row(0x002), 4);
    fabric.node(kRingC).not_kept = {unkept_mask(kFirstMulticastLid, 0, 0x102)};
  });
  made.groups({{Guid{kRingC}, mc_row(0x102)}}, 1);
  EXPECT_TRUE(made.plan().empty());

  made.groups({{Guid{kRingC}, mc_row(0x104)}}, 1);
  EXPECT_THAT(phases_of(made.plan()), ElementsAre(Phase::mft));
}

TEST(PlanMft, WhereASwitchIsLeftOutTheOthersKeepWhatTheyHaveOfATreeThatChangesThere) {
  // The tree of 0xC000 is to leave B and go over A. Without C, which sends to B still, that is no tree.
  auto made = tables_after([](SubnetBuilder& fabric) {
    fabric.node(kRingB).mft = held(mc_row(1U << 1), 4);
    fabric.node(kRingC).mft = held(mc_row(1U << 2), 4);
  });
  routing::McRow row;
  row.set(0, routing::PortMask(1U << 1));  // changes at C as well
  row.set(1, routing::PortMask(1U << 8));  // at A alone
  made.groups({{Guid{kRingA}, std::make_shared<const routing::McRow>(row)},
               {Guid{kRingB}, mc_row(0)},
               {Guid{kRingC}, mc_row(1U << 1)}},
              2);
  made.left_out = {Guid{kRingC}};

  const auto plan = made.plan();

  ASSERT_THAT(phases_of(plan), ElementsAre(Phase::mft));
  routing::McRow expected;
  expected.set(1, routing::PortMask(1U << 8));
  EXPECT_THAT(plan.rounds[0].mfts, ElementsAre(MftItem{made.index(kRingA), blocks({0}),
                                                       std::make_shared<const routing::McRow>(expected)}));
}

TEST(PlanMft, TheTopRoundIsOfSwitchesWhoseMulticastTopDiffers) {
  auto made = tables_after([](SubnetBuilder& fabric) {
    for (const auto guid : {kRingA, kRingB})
      fabric.port(guid, 0).info.capability_mask = wire::kCapMulticastFdbTop;
    fabric.node(kRingA).switch_info->multicast_fdb_top = 0xC01F;
    fabric.node(kRingA).switch_info->life_time = 1;  // not this round's business
    fabric.node(kRingB).switch_info->multicast_fdb_top = 0xBFFF;
  });
  made.multicast.emplace().top = 1;

  const auto round = top_round(made.in());

  EXPECT_EQ(round.phase, Phase::switch_info);
  EXPECT_THAT(round.switch_infos, ElementsAre(made.index(kRingB)));
}

}  // namespace
}  // namespace smd::sm
