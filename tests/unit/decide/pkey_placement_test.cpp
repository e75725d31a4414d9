// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/pkey_placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

namespace smd::sm {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

constexpr PKey kNone{}, kLimited{0x7fff}, kA{0x8001}, kB{0x8002}, kC{0x8003}, kForeign{0x8fff};

struct Case {
  std::string_view name;
  PlacementInput in;
  std::vector<PKey> table;
  std::vector<PKey> left_out{};
};

class PlaceKeys : public testing::TestWithParam<Case> {};

TEST_P(PlaceKeys, GivesEachKeyItsIndex) {
  const auto placed = place_keys(GetParam().in);
  EXPECT_THAT(placed.table, ElementsAreArray(GetParam().table)) << GetParam().name;
  EXPECT_THAT(placed.left_out, ElementsAreArray(GetParam().left_out)) << GetParam().name;
}

const Case kCases[]{
    {"a port from a reset gets the default key at index 0",
     {.keys = {{kLimited}, {kA}}, .held = {kDefaultPKey, kNone, kNone}},
     {kLimited, kA, kNone}},
    {"a port in service keeps every index",
     {.keys = {{kDefaultPKey}, {kA}, {kB}}, .held = {kA, kNone, kB, kDefaultPKey}, .in_service = true},
     {kA, kNone, kB, kDefaultPKey}},
    {"full and limited are one entry",
     {.keys = {{kLimited}, {kA}}, .held = {kDefaultPKey, PKey{1}}, .in_service = true},
     {kLimited, kA}},
    {"full and limited are one entry also where the other membership was elsewhere once",
     {.keys = {{kLimited}, {kA}},
      .held = {kLimited, kNone, PKey{1}},
      .stored = {{kLimited, 0}, {kA, 1}, {PKey{1}, 2}},
      .in_service = true},
     {kLimited, kNone, kA}},
    {"both are two",
     {.keys = {{kDefaultPKey}, {kA}, {PKey{1}}}, .held = {kDefaultPKey, kA, kNone}, .in_service = true},
     {kDefaultPKey, kA, PKey{1}}},
    {"of two stored indexes that of the same membership counts",
     {.keys = {{kDefaultPKey}, {kA}, {PKey{1}}},
      .held = {kDefaultPKey, kNone, kNone, kNone},
      .stored = {{PKey{1}, 2}, {kDefaultPKey, 0}, {kA, 3}}},
     {kDefaultPKey, kNone, PKey{1}, kA}},
    {"a key that comes back gets its index",
     {.keys = {{kDefaultPKey}, {kB}, {kA}},
      .held = {kDefaultPKey, kNone, kNone, kNone},
      .stored = {{kA, 1}, {kDefaultPKey, 0}},
      .in_service = true},
     {kDefaultPKey, kA, kB, kNone}},
    {"entries that were in use are taken last",
     {.keys = {{kDefaultPKey}, {kB}, {kC}},
      .held = {kDefaultPKey, kA, kNone, kNone},
      .stored = {{kA, 1}, {PKey{0x8009}, 2}},
      .in_service = true},
     {kDefaultPKey, kNone, kC, kB}},
    {"and that of a key that goes at the very last",
     {.keys = {{kDefaultPKey}, {kB}}, .held = {kDefaultPKey, kA}, .in_service = true},
     {kDefaultPKey, kB}},
    {"a table without room leaves the last keys out",
     {.keys = {{kDefaultPKey}, {kA}, {kB}, {kC}}, .held = {kDefaultPKey, kNone}, .in_service = true},
     {kDefaultPKey, kA},
     {kB, kC}},
    {"index 0 of a port in service is not taken by itself",
     {.keys = {{kDefaultPKey}, {kA}}, .held = {kNone, kDefaultPKey, kNone}, .in_service = true},
     {kNone, kDefaultPKey, kA}},
    {"nor in a table that is full",
     {.keys = {{kDefaultPKey}, {kA}}, .held = {kNone, kDefaultPKey}, .in_service = true},
     {kNone, kDefaultPKey},
     {kA}},
    {"but by the default key where its key goes: with P_Key 0 there is no SA",
     {.keys = {{kDefaultPKey}, {kA}}, .held = {kC, kDefaultPKey, kNone}, .in_service = true},
     {kDefaultPKey, kNone, kA}},
    {"also in a table that is full",
     {.keys = {{kDefaultPKey}, {kA}}, .held = {kC, kDefaultPKey}, .in_service = true},
     {kDefaultPKey, kA}},
    {"and of a limited member",
     {.keys = {{kLimited}}, .held = {kC, kA, kLimited}, .in_service = true},
     {kLimited, kNone, kNone}},
    {"and by no other key", {.keys = {{kA}}, .held = {kC, kA}, .in_service = true}, {kNone, kA}},
    {"but by the other key of the partition where a port has one of both no more",
     {.keys = {{kLimited}},
      .held = {kDefaultPKey, kLimited, kNone},
      .stored = {{kLimited, 1}, {kDefaultPKey, 0}},
      .in_service = true},
     {kLimited, kNone, kNone}},
    {"before the default key",
     {.keys = {{kLimited}, {kA}},
      .held = {PKey{1}, kLimited, kA},
      .stored = {{PKey{1}, 0}, {kLimited, 1}, {kA, 2}},
      .in_service = true},
     {kA, kLimited, kNone}},
    {"index0 is carried out, and what was there goes to a free index",
     {.keys = {{kDefaultPKey}, {kA, true}}, .held = {kDefaultPKey, kNone, kA, kNone}, .in_service = true},
     {kA, kDefaultPKey, kNone, kNone}},
    {"in the same block, so that one Set does both",
     {.keys = {{kDefaultPKey}, {kA, true}},
      .held =
          [] {
            std::vector<PKey> keys(64);
            for (std::uint16_t i = 0; i < 32; ++i) keys[i] = PKey{static_cast<std::uint16_t>(0x8100 + i)};
            keys[0] = kDefaultPKey;
            return keys;
          }(),
      .stored = {{PKey{0x8101}, 1}},
      .in_service = true},
     [] {
       std::vector<PKey> keys(64);
       keys[0] = kA;
       keys[1] = kDefaultPKey;
       return keys;
     }()},
    {"a port from a reset gets back what was at index 0",
     {.keys = {{kDefaultPKey}, {kA}},
      .held = {kDefaultPKey, kNone, kNone},
      .stored = {{kA, 0}, {kDefaultPKey, 2}}},
     {kA, kNone, kDefaultPKey}},
    {"without the default key a port from a reset has its first key at index 0",
     {.keys = {{kB}, {kA}}, .held = {kDefaultPKey, kNone}},
     {kB, kA}},
    {"what is stored counts more than what is there",
     {.keys = {{kDefaultPKey}, {kA}},
      .held = {kDefaultPKey, kA, kNone},
      .stored = {{kA, 2}},
      .in_service = true},
     {kDefaultPKey, kNone, kA}},
    {"but not where another SM has had the port",
     {.keys = {{kDefaultPKey}, {kA}},
      .held = {kDefaultPKey, kA, kNone},
      .stored = {{kA, 2}},
      .in_service = true,
      .held_first = true},
     {kDefaultPKey, kA, kNone}},
    {"of two keys with one stored index the one that is there stays",
     {.keys = {{kDefaultPKey}, {kA}, {kB}},
      .held = {kDefaultPKey, kB, kNone},
      .stored = {{kA, 1}, {kB, 1}},
      .in_service = true},
     {kDefaultPKey, kB, kA}},
    {"keys of others stay",
     {.keys = {{kDefaultPKey}, {kA}},
      .held = {kDefaultPKey, kForeign, kNone},
      .kept = {1},
      .in_service = true},
     {kDefaultPKey, kForeign, kA}},
    {"and move from index 0 where another key is told to be there",
     {.keys = {{kDefaultPKey}, {kA, true}},
      .held = {kForeign, kDefaultPKey, kNone},
      .kept = {0},
      .in_service = true},
     {kA, kDefaultPKey, kForeign}},
    {"stored indexes beyond the table are forgotten",
     {.keys = {{kDefaultPKey}, {kA}}, .held = {kDefaultPKey, kNone}, .stored = {{kA, 40}}},
     {kDefaultPKey, kA}},
    {"a port that is no member of anything is emptied",
     {.keys = {}, .held = {kDefaultPKey, kA}, .in_service = true},
     {kNone, kNone}},
};
INSTANTIATE_TEST_SUITE_P(Ports, PlaceKeys, testing::ValuesIn(kCases));

TEST(PlaceKeys, APortWithoutATableHasRoomForNone) {
  EXPECT_THAT(place_keys({.keys = {{kA}}}).left_out, ElementsAre(kA));
}

TEST(PlaceKeys, AFullTableLosesTheLastKeyForOneThatIsToldToBeAtIndex0) {
  const auto placed = place_keys({.keys = {{kDefaultPKey}, {kForeign, true}, {kA}, {kB}, {kC}},
                                  .held = {kDefaultPKey, kA, kB, kC},
                                  .in_service = true});
  EXPECT_THAT(placed.table, ElementsAre(kForeign, kA, kB, kDefaultPKey));
  EXPECT_THAT(placed.left_out, ElementsAre(kC));
}

TEST(PlaceKeys, TheDefaultKeyTakesTheOnlyFreeEntryAlsoWhereItIsIndex0) {
  const auto placed =
      place_keys({.keys = {{kDefaultPKey}, {kA}, {kB}}, .held = {kNone, kA, kB}, .in_service = true});
  EXPECT_THAT(placed.table, ElementsAre(kDefaultPKey, kA, kB));
  EXPECT_THAT(placed.left_out, testing::IsEmpty());
}

/// Members come and go at random: no key moves while it is there.
TEST(PlaceKeys, NoKeyMovesWhileItIsDecided) {
  std::uint32_t seed = 1;
  const auto random = [&](std::uint32_t below) {
    seed = seed * 1664525U + 1013904223U;
    return (seed >> 8U) % below;
  };
  PlacementInput in{.keys = {{kDefaultPKey}}, .held = std::vector<PKey>(16), .in_service = true};
  in.held[0] = kDefaultPKey;
  for (int step = 0; step < 5'000; ++step) {
    const PKey key{static_cast<std::uint16_t>(0x8001 + random(12))};
    const auto at = std::ranges::find(in.keys, key, &WantedKey::key);
    if (at != in.keys.end()) {
      in.keys.erase(at);
    } else {
      in.keys.push_back({key});
    }
    const auto placed = place_keys(in);
    ASSERT_TRUE(placed.left_out.empty());
    for (const auto& wanted : in.keys) {
      const auto now = std::ranges::find(placed.table, wanted.key) - placed.table.begin();
      const auto was = std::ranges::find(in.held, wanted.key) - in.held.begin();
      ASSERT_LT(now, 16);
      if (was < 16) ASSERT_EQ(now, was) << step;
    }
    in.held = placed.table;
    std::erase_if(in.stored, [&](const auto& row) {
      return in.held[row.second] != PKey{} || std::ranges::find(in.held, row.first) != in.held.end();
    });
    for (std::uint16_t i = 0; i < 16; ++i) {
      if (in.held[i] != PKey{}) in.stored.emplace_back(in.held[i], i);
    }
  }
}

}  // namespace
}  // namespace smd::sm
