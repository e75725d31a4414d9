// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "smd/sa/fair_queue.h"

namespace smd::sa {
namespace {

Arrived from(std::uint16_t lid, std::uint8_t what) {
  return {.mad = {.bytes = {what}, .from = {.lid = Lid{lid}}, .error = 0}};
}

/// "1a 2b" is a of LID 1, b of LID 2.
std::string all(FairQueue& queue, Length length = Length::brief) {
  std::string text;
  while (const auto one = queue.next(length)) {
    text += (text.empty() ? "" : " ") + std::to_string(one->mad.from.lid.value()) +
            static_cast<char>('a' + one->mad.bytes.front());
  }
  return text;
}

TEST(SaTurns, PortsTakeTurnsAndKeepTheirOrder) {
  const Settings settings{};
  FairQueue queue;
  for (std::uint8_t i = 0; i < 4; ++i) {
    auto mad = from(1, i);
    EXPECT_TRUE(queue.put(mad, Length::brief, settings));
  }
  auto late = from(2, 0);
  EXPECT_TRUE(queue.put(late, Length::brief, settings));
  EXPECT_EQ(queue.size(), 5U);
  EXPECT_EQ(all(queue), "1a 2a 1b 1c 1d");
  EXPECT_TRUE(queue.empty());
}

TEST(SaTurns, WhoMayNotHaveATurnKeepsItsPlace) {
  const Settings settings{};
  FairQueue queue;
  for (const auto lid : {std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{3}}) {
    auto mad = from(lid, 0);
    queue.put(mad, Length::open, settings);
  }
  const auto next = queue.next(Length::open, [](Lid lid) { return lid == Lid{2}; });
  ASSERT_TRUE(next);
  EXPECT_EQ(next->mad.from.lid, Lid{2});
  EXPECT_FALSE(queue.next(Length::open, [](Lid) { return false; }));
  EXPECT_EQ(all(queue, Length::open), "3a 1a");
}

TEST(SaTurns, BriefRequestsDoNotWaitForOthersOfTheirPort) {
  const Settings settings{};
  FairQueue queue;
  auto slow = from(1, 0), quick = from(1, 1);
  queue.put(slow, Length::open, settings);
  queue.put(quick, Length::brief, settings);
  EXPECT_EQ(all(queue), "1b");
  EXPECT_EQ(all(queue, Length::open), "1a");
  EXPECT_TRUE(queue.empty());
}

TEST(SaTurns, ThereIsRoomForSoManyAndForSoManyOfOne) {
  const Settings settings{.queue = 3, .per_source = 2};
  FairQueue queue;
  for (const auto& [lid, fits] : {std::pair{1, true}, {1, true}, {1, false}, {2, true}, {3, false}}) {
    auto mad = from(static_cast<std::uint16_t>(lid), 0);
    EXPECT_EQ(queue.put(mad, Length::brief, settings), fits);
    EXPECT_EQ(mad.mad.bytes.empty(), fits) << "what is refused is left to the caller";
  }
}

}  // namespace
}  // namespace smd::sa
