// SPDX-License-Identifier: Apache-2.0
// Which blocks of tables are planned: what differs from what was decided, or is not known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string_view>
#include <vector>

#include "smd/plan/lft_rounds.h"
#include "smd/plan/plan.h"
#include "smd/sweep/unkept_entries.h"
#include "tests/unit/plan/support.h"

namespace smd::sm {
namespace {

using ::testing::ElementsAre;

TEST(PlanLft, BlocksThatDifferOrAreNotKnownArePlanned) {
  const struct {
    std::string_view name;
    std::function<void(Node&)> edit;
    BlockSet expected;
    std::size_t changed;
  } cases[]{
      {"an entry of block 0",
       [](Node& n) { n.lft.row = test::lft_row({{1, 3}, {2, 0}, {3, 1}, {9, 3}, {70, 3}}, 2); }, blocks({0}),
       1},
      {"of block 1", [](Node& n) { n.lft.row = test::lft_row({{1, 3}, {2, 0}, {3, 1}, {9, 1}, {70, 1}}, 2); },
       blocks({1}), 1},
      {"of both", [](Node& n) { n.lft.row = test::lft_row({{1, 3}, {2, 0}, {3, 1}, {70, 1}}, 2); },
       blocks({0, 1}), 2},
      {"block 1 is not known, as it was", [](Node& n) { n.lft.known = BlockSet::first(1); }, blocks({1}), 0},
      {"block 0 is not known", [](Node& n) { n.lft.known.reset(0); }, blocks({0}), 0},
      {"nothing is known", [](Node& n) { n.lft = {}; }, blocks({0, 1}), 0},
      {"the row is shorter", [](Node& n) { n.lft.row = test::lft_row({{1, 3}, {2, 0}, {3, 1}, {9, 1}}, 1); },
       blocks({1}), 1},
      {"equal rows that are not the same",
       [](Node& n) { n.lft.row = std::make_shared<const routing::LftRow>(*n.lft.row); },
       {},
       0},
  };
  for (const auto& at : cases) {
    auto made = tables_after([&](SubnetBuilder& fabric) { at.edit(fabric.node(kRingB)); });

    const auto plan = made.plan();

    BlockSet written;
    for (const auto& round : plan.rounds) {
      EXPECT_EQ(round.phase, Phase::lft) << at.name;
      for (const auto& item : round.lfts) {
        EXPECT_EQ(item.node, made.index(kRingB)) << at.name;
        item.blocks.for_each([&](std::size_t block) { written.set(block); });
      }
    }
    EXPECT_EQ(written, at.expected) << at.name;
    EXPECT_EQ(plan.lft_entries_changed, at.changed) << at.name;
    EXPECT_EQ(plan.lft_blocks(), at.expected.count()) << at.name;
  }
}

TEST(PlanLft, BlocksThatSwitchesHoldBeforeTheyForwardAreNotWrittenAgain) {
  auto made = tables_after([](SubnetBuilder& fabric) {
    for (const auto guid : {kRingA, kRingB, kRingC}) fabric.node(guid).switch_info->linear_fdb_top = 0;
    auto& row = fabric.node(kRingB).lft.row;
    row = std::make_shared<const routing::LftRow>(*row);
  });

  EXPECT_THAT(phases_of(made.plan()), ElementsAre(Phase::switch_info));
}

TEST(PlanLft, WritesThatCouldCloseALoopWaitForEachOther) {
  // A sends to LID 9 over B, B to C. That is to be turned round: were B written first, A and B would send
  // packets to each other.
  auto made = tables_after(
      [](SubnetBuilder& fabric) { fabric.lft(kRingA, 70, {{1, 0}, {2, 3}, {3, 1}, {9, 3}, {70, 8}}); });
  made.row(kRingB, test::lft_row({{1, 3}, {2, 0}, {3, 1}, {9, 3}, {70, 3}}, 2));

  const auto plan = made.plan();

  ASSERT_THAT(phases_of(plan), ElementsAre(Phase::lft, Phase::lft));
  EXPECT_THAT(plan.rounds[0].lfts, ElementsAre(LftItem{made.index(kRingA), blocks({0}), {}}));
  EXPECT_THAT(plan.rounds[1].lfts, ElementsAre(LftItem{made.index(kRingB), blocks({0}), {}}));
  EXPECT_FALSE(plan.drains());
  EXPECT_FALSE(plan.interrupts);
}

TEST(PlanLft, TheTopOfASwitchThatRefusesBlocksAboveItRisesFirst) {
  const auto fresh = [](SubnetBuilder& fabric) {
    fabric.node(kRingB).lft = {};
    fabric.node(kRingB).switch_info->linear_fdb_top = 0;
  };
  auto usual = tables_after(fresh);
  auto refuses = tables_after([&](SubnetBuilder& fabric) {
    fresh(fabric);
    fabric.node(kRingB).not_kept = {blocks_above_top()};
  });

  EXPECT_THAT(phases_of(usual.plan()), ElementsAre(Phase::lft, Phase::switch_info));
  EXPECT_THAT(phases_of(refuses.plan()), ElementsAre(Phase::switch_info, Phase::lft));
}

TEST(PlanLft, ASwitchWithoutADecidedTableIsLeftAlone) {
  auto made =
      tables_after([](SubnetBuilder& fabric) { fabric.node(kRingB).lft.row = test::lft_row({{9, 1}}, 2); });
  std::erase_if(made.routes.rows, [](const RoutePart::Row& row) { return row.node == Guid{kRingB}; });

  EXPECT_TRUE(made.plan().empty());
}

TEST(PlanLft, APartOfABlockKeepsOrDropsTheOtherEntries) {
  const auto decided = test::lft_row({{64, 1}, {65, 2}, {66, 3}, {127, 4}}, 2);
  const auto held = test::lft_row({{64, 5}, {65, 6}, {66, 7}, {127, 8}}, 2);

  const auto content = block_content(*decided, held.get(), {.block = 1, .kept = 2, .dropped = 4});

  EXPECT_EQ(content.ports[0], PortNum{1});   // decided
  EXPECT_EQ(content.ports[1], PortNum{6});   // kept
  EXPECT_EQ(content.ports[2], kNoPort);      // dropped
  EXPECT_EQ(content.ports[63], PortNum{4});  // decided
  EXPECT_EQ(block_content(*decided, nullptr, {.block = 1, .kept = 1, .dropped = 0}).ports[0], kNoPort);
}

PKeyPart one_pkey_block(std::uint64_t node, unsigned port, std::size_t block, PKey key) {
  PKeyPart part;
  part.blocks.push_back({test::place(node, port), block, {{key}}});
  return part;
}

TEST(PlanPKeys, ABlockIsPlannedThatDiffersOrIsNotKnown) {
  const HeldBlocks<wire::PKeyTable> with_default{{{{kDefaultPKey}}, {}}, blocks({0}), {}};
  const struct {
    std::string_view name;
    std::size_t block;
    PKey key;
    bool planned;
  } cases[]{{"as decided", 0, kDefaultPKey, false},
            {"differs", 0, PKey{0x8001}, true},
            {"not known, as it was", 1, PKey{}, true},
            {"the table has no such block", 2, PKey{}, false}};
  for (const auto& at : cases) {
    auto made = tables_after([&](SubnetBuilder& fabric) {
      fabric.port(kRingHost, 1).held<wire::PKeyTable>() =
          std::make_shared<const HeldBlocks<wire::PKeyTable>>(with_default);
    });
    made.pkeys = one_pkey_block(kRingHost, 1, at.block, at.key);

    const auto plan = made.plan();

    ASSERT_EQ(plan.rounds.size(), at.planned ? 1U : 0U) << at.name;
    if (!at.planned) continue;
    EXPECT_EQ(plan.rounds[0].phase, Phase::pkeys);
    EXPECT_THAT(
        plan.rounds[0].items<wire::PKeyTable>(),
        ElementsAre(TableItem<wire::PKeyTable>{made.index(kRingHost), PortNum{1}, at.block, {{at.key}}}));
    made.left_out = {Guid{kRingHost}};
    EXPECT_TRUE(made.plan().empty()) << at.name;
  }
}

TEST(PlanPKeys, ATableThatWasNotReadIsNotPlannedNorOneOfANodeThatIsGone) {
  auto made = tables_after([](SubnetBuilder&) {});
  for (const auto& part :
       {one_pkey_block(kRingHost, 1, 0, kDefaultPKey), one_pkey_block(0x999, 1, 0, kDefaultPKey),
        one_pkey_block(kRingHost, 9, 0, kDefaultPKey)}) {
    made.pkeys = part;
    EXPECT_TRUE(made.plan().empty());
  }
}

}  // namespace
}  // namespace smd::sm
