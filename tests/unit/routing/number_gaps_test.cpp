// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/number_gaps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace smd::routing {
namespace {

/// The most often that one turn is taken by `window` destinations that follow each other, round the end too.
std::uint32_t most_taken(const std::vector<std::uint32_t>& numbers, std::uint32_t window,
                         std::uint32_t period) {
  std::uint32_t most = 0;
  for (std::size_t first = 0; first < numbers.size(); ++first) {
    std::map<std::uint32_t, std::uint32_t> taken;
    for (std::size_t i = 0; i < window; ++i)
      most = std::max(most, ++taken[numbers[(first + i) % numbers.size()] % period]);
  }
  return most;
}

/// Leaves with 11 hosts each, with 14 uplinks.
std::vector<RoundRobinLevel> one_level(std::uint32_t period) {
  return {{.unit = 1, .period = period, .blocks = std::vector<std::uint32_t>(11, 1)}};
}

TEST(NumberGaps, MakeShiftsRoundTheEndAsGoodAsAnyOthers) {
  const std::vector<std::uint32_t> windows{11};
  const auto numbers = numbers_with_gaps(121, one_level(14), windows);
  ASSERT_EQ(numbers.size(), 121U);
  EXPECT_EQ(std::ranges::adjacent_find(numbers, std::ranges::greater_equal{}), numbers.end()) << "ascending";
  EXPECT_EQ(most_taken(numbers, 11, 14), 1U);
  std::map<std::uint32_t, std::uint32_t> by_turn;
  for (const auto number : numbers) ++by_turn[number % 14];
  for (const auto& [turn, count] : by_turn) EXPECT_THAT(count, testing::AnyOf(8U, 9U)) << turn;
}

TEST(NumberGaps, AreNotThereWhereTheyBringNothing) {
  std::vector<std::uint32_t> plain(54);
  std::iota(plain.begin(), plain.end(), 0U);
  const std::vector<std::uint32_t> windows{9};
  EXPECT_EQ(numbers_with_gaps(54, {{{.unit = 1, .period = 4, .blocks = {}}}}, windows), plain)
      << "nine destinations take one of four turns three times anyway";
  EXPECT_EQ(numbers_with_gaps(54, {{{.unit = 1, .period = 9, .blocks = {}}}}, windows), plain)
      << "a multiple already";
  EXPECT_EQ(numbers_with_gaps(54, {}, {}), plain);
}

TEST(NumberGaps, KeepTheTurnsOfTheLevelsBelow) {
  const std::vector<RoundRobinLevel> levels{{.unit = 1, .period = 4, .blocks = {}},
                                            {.unit = 4, .period = 20, .blocks = {}}};
  const std::vector<std::uint32_t> windows{4, 16};
  for (std::uint32_t places = 16; places < 300; ++places) {
    const auto numbers = numbers_with_gaps(places, levels, windows);
    ASSERT_EQ(numbers.size(), places);
    const auto before = [&](std::uint32_t window, std::uint32_t period) {
      std::vector<std::uint32_t> plain(places);
      std::iota(plain.begin(), plain.end(), 0U);
      return most_taken(plain, window, period);
    };
    EXPECT_LE(most_taken(numbers, 4, 4), before(4, 4)) << places;
    EXPECT_LE(most_taken(numbers, 16, 20), before(16, 20)) << places;
  }
}

}  // namespace
}  // namespace smd::routing
