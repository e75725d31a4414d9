// SPDX-License-Identifier: Apache-2.0
// Which VL has its turn.
#include "mad/sim/arbitration/vl_arbiter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/data_network.h"

namespace smd::test {
namespace {

using testing::ElementsAre;

constexpr std::uint32_t kPacket = 2048 + sim::kHeaderBytes;  // 33 blocks

/// VLs of so many turns, all of the set having packets all the time.
std::vector<int> turns(sim::VlArbiter& arbiter, sim::VlSet ready, unsigned count,
                       std::uint32_t bytes = kPacket) {
  std::vector<int> vls;
  for (unsigned turn = 0; turn < count; ++turn) {
    const auto next = arbiter.next(ready);
    if (!next) break;
    arbiter.sent(bytes);
    vls.push_back(next->value());
  }
  return vls;
}

TEST(VlArbiter, EntriesHaveTheirTurnsInTheirOrderUntilTheirWeightIsUsedUp) {
  sim::VlArbiter arbiter(low_table({{2, 66}, {0, 33}, {1, 99}}), 8);

  EXPECT_THAT(turns(arbiter, 0b111, 8), ElementsAre(2, 2, 0, 1, 1, 1, 2, 2));
}

TEST(VlArbiter, TheLastPacketOfATurnMayBeLargerThanWhatIsLeft) {
  sim::VlArbiter arbiter(low_table({{0, 34}, {1, 1}}), 8);  // two packets of 33 blocks, and one

  EXPECT_THAT(turns(arbiter, 0b11, 6), ElementsAre(0, 0, 1, 0, 0, 1));
}

TEST(VlArbiter, AVlWithoutPacketsLosesTheRestOfItsTurn) {
  sim::VlArbiter arbiter(low_table({{0, 255}, {1, 33}}), 8);

  EXPECT_THAT(turns(arbiter, 0b11, 2), ElementsAre(0, 0));
  EXPECT_THAT(turns(arbiter, 0b10, 3), ElementsAre(1, 1, 1));
  EXPECT_THAT(turns(arbiter, 0b11, 9), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 1));  // a whole turn again
}

TEST(VlArbiter, EntriesThatCannotSendAreSkipped) {
  sim::VlArbiter arbiter(low_table({{0, 0}, {15, 9}, {5, 9}, {1, 9}}), 4);

  EXPECT_EQ(arbiter.served(), 0b10);
  EXPECT_THAT(turns(arbiter, 0b100011, 2), ElementsAre(1, 1));
  EXPECT_FALSE(arbiter.next(0b1));
}

TEST(VlArbiter, AVlMayStandInSeveralPlaces) {
  sim::VlArbiter arbiter(
      {.high = entries({{0, 1}}), .low = entries({{0, 1}, {1, 1}, {0, 1}}), .high_limit = 0}, 8);

  EXPECT_THAT(turns(arbiter, 0b11, 6), ElementsAre(0, 0, 0, 1, 0, 0));
}

TEST(VlArbiter, TablesThatWereNeverWrittenGiveAllVlsATurn) {
  sim::VlArbiter arbiter({}, 4);
  sim::VlArbiter single(low_table({{1, 9}}), 1);  // nothing to arbitrate

  EXPECT_THAT(turns(arbiter, 0b1111, 5), ElementsAre(0, 1, 2, 3, 0));
  EXPECT_THAT(turns(single, 1, 2), ElementsAre(0, 0));
}

/// Packets that high sends between two of low, by VLHighLimit; 200: low has never its turn.
unsigned high_in_a_row(std::uint8_t limit, std::uint32_t bytes) {
  sim::VlArbiter arbiter({.high = entries({{1, 255}}), .low = entries({{0, 1}}), .high_limit = limit}, 8);
  const auto order = turns(arbiter, 0b11, 200, bytes);
  return static_cast<unsigned>(std::ranges::find(order, 0) - order.begin());
}

TEST(VlArbiter, TablesThatWereWrittenWithoutAWeightLetNothingPass) {
  sim::VlArbitrationTables tables;
  tables.written = true;
  sim::VlArbiter arbiter(tables, 4);

  EXPECT_EQ(arbiter.served(), 0);
  EXPECT_FALSE(arbiter.next(0b1111));
}

TEST(VlArbiter, HighGoesBeforeLowAsFarAsItsLimitSays) {
  EXPECT_EQ(high_in_a_row(0, kPacket), 1U);
  EXPECT_EQ(high_in_a_row(1, kPacket), 2U);    // 2,074 bytes are less than 4 KB
  EXPECT_EQ(high_in_a_row(10, kPacket), 20U);  // 19 packets are 39,406 bytes of 40,960
  EXPECT_EQ(high_in_a_row(1, 4096), 1U);
  EXPECT_EQ(high_in_a_row(10, 4122), 10U);
  EXPECT_EQ(high_in_a_row(255, kPacket), 200U);
}

TEST(VlArbiter, HighTakesWhatLowDoesNotUse) {
  sim::VlArbiter arbiter({.high = entries({{1, 1}}), .low = entries({{0, 1}}), .high_limit = 0}, 8);

  EXPECT_THAT(turns(arbiter, 0b10, 3), ElementsAre(1, 1, 1));
  EXPECT_THAT(turns(arbiter, 0b01, 2), ElementsAre(0, 0));
  EXPECT_THAT(turns(arbiter, 0b11, 4), ElementsAre(1, 0, 1, 0));
}

}  // namespace
}  // namespace smd::test
