// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/vl_turns.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <random>
#include <span>

namespace smd::sm {
namespace {

using Blocks = std::array<wire::VlArbitration, kArbitrationBlocks>;
using TurnVls = std::vector<unsigned>;

/// Tables of so many entries each.
QosPart::Tables turn_tables(std::uint8_t low, std::uint8_t high, const TurnVls& of_low,
                            const TurnVls& of_high) {
  QosPart::Tables tables;
  tables.low = low;
  tables.high = high;
  const auto fill = [&](std::size_t first, const TurnVls& vls) {
    for (std::size_t i = 0; i < vls.size(); ++i)
      tables.arbitration[first + i / 32].entries[i % 32] = {Vl{static_cast<std::uint8_t>(vls[i])}, 64};
  };
  fill(0, of_low);
  fill(2, of_high);
  return tables;
}

HeldBlocks<wire::VlArbitration> held_turns(const QosPart::Tables& tables) {
  HeldBlocks<wire::VlArbitration> held;
  held.row.assign(tables.arbitration.begin(), tables.arbitration.end());
  return held;
}

/// Every VL of `in_use` has a turn after each Set of some blocks of one round, whatever was written.
bool keeps_turns(const Blocks& before, const Blocks& after, const std::bitset<kArbitrationBlocks>& round,
                 const VlSet& in_use) {
  for (unsigned written = 0; written < 1U << kArbitrationBlocks; ++written) {
    Blocks now = before;
    for (std::size_t block = 0; block < kArbitrationBlocks; ++block) {
      if (round.test(block) && (written >> block & 1U) != 0) now[block] = after[block];
    }
    if ((in_use & ~served_vls(now)).any()) return false;
  }
  return true;
}

/// From `before` to `tables`: both rounds of arbitration, the SLs, and the last one.
bool is_gapless(const QosPart::Tables& before, const QosPart::Tables& tables, bool moves) {
  const auto was = served_vls(before.arbitration), will = served_vls(tables.arbitration);
  const auto turns = turns_between(tables, held_turns(before), was, moves);
  const auto in_use = moves ? was : was & will;
  auto half = before.arbitration;
  for (std::size_t block = 0; block < kArbitrationBlocks; ++block) {
    if (!turns.late.test(block)) half[block] = turns.between[block];
  }
  return keeps_turns(before.arbitration, turns.between, ~turns.late, in_use) &&
         keeps_turns(half, turns.between, turns.late, in_use) && (served_vls(turns.between) & will) == will &&
         keeps_turns(turns.between, tables.arbitration, ~std::bitset<kArbitrationBlocks>{}, will);
}

TEST(VlTurns, AreThoseDecidedWhereNoneIsLost) {
  const auto before = turn_tables(8, 8, {0, 1, 2}, {3});
  const auto after = turn_tables(8, 8, {2, 1, 0, 4}, {3});
  const auto turns = turns_between(after, held_turns(before), ~VlSet{}, true);
  EXPECT_EQ(turns.between, after.arbitration);
  EXPECT_TRUE(turns.late.none());
}

/// All entries of both tables are taken, and every VL moves: VLs with two turns give one up meanwhile.
TEST(VlTurns, OfFullTablesTakeTheSecondTurnsOfOthers) {
  const auto before = turn_tables(8, 8, {0, 1, 2, 3, 0, 1, 2, 3}, {4, 5, 6, 7, 4, 5, 6, 7});
  const auto after = turn_tables(8, 8, {4, 5, 6, 7, 4, 5, 6, 7}, {0, 1, 2, 3, 0, 1, 2, 3});
  EXPECT_TRUE(is_gapless(before, after, false));
  const auto others = turn_tables(8, 8, {8, 9, 10, 11, 8, 9, 10, 11}, {12, 13, 14, 12, 13, 14, 12, 13});
  EXPECT_TRUE(
      is_gapless(turn_tables(8, 8, {0, 1, 2, 3, 0, 1, 2, 3}, {0, 1, 2, 3, 0, 1, 2, 3}), others, true));
}

/// No entry of the table that VLs leave is free: the other one is written first.
TEST(VlTurns, ThatTheOtherTableTakesComeBeforeTheyAreLost) {
  const auto before = turn_tables(4, 8, {0, 1, 2, 3}, {});
  const auto after = turn_tables(4, 8, {4, 5, 6, 7}, {});
  EXPECT_TRUE(is_gapless(before, after, true));
  EXPECT_TRUE(turns_between(after, held_turns(before), ~VlSet{}, true).late.test(0));
  const auto high = turn_tables(4, 8, {4, 5, 6, 7}, {0, 1, 2, 3});
  EXPECT_TRUE(is_gapless(before, high, false));
  EXPECT_EQ(turns_between(high, held_turns(before), ~VlSet{}, false).between, high.arbitration)
      << "the order is enough";
}

TEST(VlTurns, OfTheBlocksOfOneTableAreKeptToo) {
  TurnVls first(64, 0), second(64, 0);
  first[1] = 1;
  second[40] = 1;
  EXPECT_TRUE(is_gapless(turn_tables(64, 0, first, {}), turn_tables(64, 0, second, {}), false));
}

/// A VL that has no packets needs no entry.
TEST(VlTurns, AreKeptForVlsInUseOnly) {
  const auto before = turn_tables(4, 0, {0, 1, 2, 3}, {});
  const auto after = turn_tables(4, 0, {4, 5, 6}, {});
  const auto turns = turns_between(after, held_turns(before), VlSet{1U << 2U}, true);
  EXPECT_EQ(turns.between[0].entries[3], (wire::VlWeight{Vl{2}, 64}));
  EXPECT_EQ(turns_between(after, held_turns(before), VlSet{1U << 2U}, false).between, after.arbitration);
}

/// The port has taken its arbitration, and has refused its SL to VL table.
TEST(VlTurns, AreGivenToVlsOfSlsThatDidNotMove) {
  const auto tables = turn_tables(4, 4, {0, 1}, {2});
  const VlSet mapped{0b1'1011U};
  const auto turns = turns_between(tables, held_turns(tables), mapped, true);
  EXPECT_EQ(turns.between[0].entries[2], (wire::VlWeight{Vl{3}, 64}));
  EXPECT_EQ(turns.between[0].entries[3], (wire::VlWeight{Vl{4}, 64}));
  EXPECT_EQ(turns.between[2], tables.arbitration[2]);
  EXPECT_TRUE(turns.late.none());

  HeldBlocks<wire::VlArbitration> held;
  held.row.assign(turns.between.begin(), turns.between.end());
  EXPECT_EQ(turns_between(tables, held, mapped, true).between, turns.between) << "they stay, without a Set";
  EXPECT_EQ(turns_between(tables, held_turns(tables), mapped, false).between, tables.arbitration);
  EXPECT_EQ(turns_between(tables, held_turns(tables), ~VlSet{}, true).between, tables.arbitration)
      << "it is not known which";
}

/// Tables with room for the VLs of before and after, and for those that change their table in both.
TEST(VlTurns, AreNeverMissingWhereThereIsRoom) {
  std::mt19937 random(5);
  const auto below = [&](unsigned end) {
    return std::uniform_int_distribution<unsigned>(0, end - 1)(random);
  };
  const auto tables = [&] {
    TurnVls low, high;
    for (unsigned i = 0; i < 8; ++i) low.push_back(below(4)), high.push_back(4 + below(4));
    if (below(2) == 0) std::swap(low, high);
    return turn_tables(8, 8, low, high);
  };
  for (int round = 0; round < 2000; ++round) {
    const auto before = tables(), after = tables();
    ASSERT_TRUE(is_gapless(before, after, below(2) == 0)) << round;
  }
}

}  // namespace
}  // namespace smd::sm
