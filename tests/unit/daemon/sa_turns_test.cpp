// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "smd/sa/turns.h"

namespace smd::sa {
namespace {

mad::Received from(std::uint16_t lid, std::uint8_t what) {
  return {.bytes = {what}, .from = {.lid = Lid{lid}}, .error = 0};
}

/// "1a 2b" is a of LID 1, b of LID 2.
std::string all(Turns& turns) {
  std::string text;
  while (const auto mad = turns.next()) {
    text += (text.empty() ? "" : " ") + std::to_string(mad->from.lid.value()) +
            static_cast<char>('a' + mad->bytes.front());
  }
  return text;
}

TEST(SaTurns, PortsTakeTurnsAndKeepTheirOrder) {
  const Settings settings{};
  Turns turns;
  for (std::uint8_t i = 0; i < 4; ++i) {
    auto mad = from(1, i);
    EXPECT_TRUE(turns.put(mad, settings));
  }
  auto late = from(2, 0);
  EXPECT_TRUE(turns.put(late, settings));
  EXPECT_EQ(turns.size(), 5U);
  EXPECT_EQ(all(turns), "1a 2a 1b 1c 1d");
  EXPECT_TRUE(turns.empty());
}

TEST(SaTurns, WhatIsPutBackIsItsPortsNext) {
  const Settings settings{};
  Turns turns;
  for (std::uint8_t i = 0; i < 3; ++i) {
    auto mad = from(1, i);
    turns.put(mad, settings);
  }
  auto first = turns.next(), second = turns.next();
  turns.put_back(*std::move(second));
  turns.put_back(*std::move(first));
  EXPECT_EQ(all(turns), "1a 1b 1c");
}

TEST(SaTurns, ThereIsRoomForSoManyAndForSoManyOfOne) {
  const Settings settings{.queue = 3, .per_source = 2};
  Turns turns;
  for (const auto& [lid, fits] : {std::pair{1, true}, {1, true}, {1, false}, {2, true}, {3, false}}) {
    auto mad = from(static_cast<std::uint16_t>(lid), 0);
    EXPECT_EQ(turns.put(mad, settings), fits);
    EXPECT_EQ(mad.bytes.empty(), fits) << "what is refused is left to the caller";
  }
}

}  // namespace
}  // namespace smd::sa
