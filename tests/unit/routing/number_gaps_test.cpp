// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/number_gaps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "routing/engines/rank_order.h"
#include "routing/quality/quality.h"
#include "tests/support/routing_engines.h"
#include "tests/support/spec_topology.h"

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

TEST(NumberGaps, LeaveNoCollisionsThatNeedNotBe) {
  for (const std::uint32_t leaves : {3U, 4U, 8U, 14U, 17U}) {
    for (std::uint32_t hosts = 3; hosts <= 18; ++hosts) {
      for (std::uint32_t uplinks = 2; uplinks <= 19; ++uplinks) {
        const std::vector<std::uint32_t> windows{hosts};
        const std::vector<RoundRobinLevel> levels{{.unit = 1, .period = uplinks, .blocks = {}}};
        const auto numbers = numbers_with_gaps(leaves * hosts, levels, windows);
        EXPECT_EQ(most_taken(numbers, hosts, uplinks), (hosts + uplinks - 1) / uplinks)
            << leaves << " leaves of " << hosts << " hosts and " << uplinks << " uplinks";
      }
    }
  }
}

/// Not by the least that hosts and uplinks allow, but by the best known: opensm's ftree.
TEST(NumberGaps, GiveSimpleTreesTheShiftsOfTheirUplinks) {
  struct Row {
    const char* spec;
    unsigned shift;
    std::uint64_t load;
  };
  for (const auto& [spec, shift, load] : {Row{"xgft:2;17,16;1,18;1,1+guids=3", 1, 255},
                                          {"xgft:2;15,14;1,8;1,2+guids=1", 1, 195},
                                          {"xgft:2;14,14;1,5;1,3+guids=2", 1, 182},
                                          {"xgft:2;17,4;1,6;1,1+guids=4", 3, 153},
                                          {"xgft:2;11,11;1,7;1,2+guids=5", 1, 110}}) {
    const auto fabric = fabrics::with_lids(fabrics::of_spec(spec).input);
    const RoutingContext context{fabric.topology, fabric.lids, Serial{}};
    const auto found = measure(context, routed_by("dmodc", fabric), rank_order(context, {}));
    EXPECT_EQ(found.shift_max, shift) << spec;
    EXPECT_EQ(found.max_link_paths, load) << spec;
  }
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
