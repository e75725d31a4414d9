// SPDX-License-Identifier: Apache-2.0
#include "smd/ha/election.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace smd::sm {
namespace {

using wire::SmState;

constexpr SmState kStates[]{SmState::not_active, SmState::discovering, SmState::standby, SmState::master};
constexpr SmRank kSelf{8, Guid{50}};

OtherSm other_sm(SmState state, unsigned priority, std::uint64_t guid) {
  OtherSm other;
  other.info.state = state;
  other.info.priority = static_cast<std::uint8_t>(priority);
  other.info.guid = Guid{guid};
  return other;
}

/// GUID of the SM that we give way to; 0: none.
std::uint64_t winner(bool self_is_master, const std::vector<OtherSm>& others) {
  const auto found = gives_way_to(kSelf, self_is_master, others);
  return found ? found->info.guid.value() : 0;
}

TEST(Election, TheHigherPriorityWinsAndOfEqualOnesTheLowerGuid) {
  const struct {
    SmRank a, b;
    bool a_below_b;
  } cases[]{
      {{8, Guid{50}}, {9, Guid{50}}, true},  {{8, Guid{50}}, {9, Guid{60}}, true},
      {{8, Guid{50}}, {9, Guid{40}}, true},  {{8, Guid{50}}, {8, Guid{40}}, true},
      {{8, Guid{50}}, {8, Guid{60}}, false}, {{8, Guid{50}}, {8, Guid{50}}, false},
      {{8, Guid{50}}, {7, Guid{40}}, false}, {{15, Guid{~0ULL}}, {0, Guid{1}}, false},
  };
  for (const auto& at : cases) {
    EXPECT_EQ(at.a < at.b, at.a_below_b) << +at.a.priority << ' ' << at.b.guid.value();
  }
}

/// A line: what we do beside an SM of this rank, by its state: '-' the fabric is ours, 'w' we give way.
struct RankCase {
  std::string_view name;
  unsigned priority;
  std::uint64_t guid;
  // Not active, discovering, standby, master.
  std::string_view as_master, as_other;
};

TEST(Election, EachPairOfRankAndState) {
  // A master gives way to a master only, whatever their ranks. Others give way to a master, too, and to SMs
  // that outrank them and are not inactive.
  const RankCase cases[]{
      {"higher priority, higher GUID", 9, 60, "---w", "-www"},
      {"higher priority, the same GUID", 9, 50, "---w", "-www"},
      {"higher priority, lower GUID", 9, 40, "---w", "-www"},
      {"equal priority, lower GUID", 8, 40, "---w", "-www"},
      {"equal", 8, 50, "---w", "---w"},
      {"equal priority, higher GUID", 8, 60, "---w", "---w"},
      {"lower priority, lower GUID", 7, 40, "---w", "---w"},
      {"lower priority, the same GUID", 7, 50, "---w", "---w"},
      {"lower priority, higher GUID", 7, 60, "---w", "---w"},
  };
  for (const auto& at : cases) {
    for (const auto state : kStates) {
      const auto other = other_sm(state, at.priority, at.guid);
      const auto column = static_cast<std::size_t>(state);

      EXPECT_EQ(winner(true, {other}) != 0, at.as_master[column] == 'w')
          << at.name << ' ' << to_string(state);
      EXPECT_EQ(winner(false, {other}) != 0, at.as_other[column] == 'w')
          << at.name << ' ' << to_string(state);
    }
  }
}

TEST(Election, AloneTheFabricIsOurs) {
  EXPECT_FALSE(gives_way_to(kSelf, false, {}));
  EXPECT_FALSE(gives_way_to(kSelf, true, {}));
}

TEST(Election, OfSeveralSmsWeGiveWayToTheMasterElseToTheHighestRank) {
  const auto master_low = other_sm(SmState::master, 1, 90), master_high = other_sm(SmState::master, 8, 91);
  const auto standby_high = other_sm(SmState::standby, 15, 92),
             standby_low = other_sm(SmState::standby, 9, 93);
  const auto discovering = other_sm(SmState::discovering, 12, 94),
             asleep = other_sm(SmState::not_active, 15, 10);
  const auto below = other_sm(SmState::standby, 7, 95), lower_guid = other_sm(SmState::standby, 15, 80);
  const struct {
    std::string_view name;
    std::vector<OtherSm> others;
    std::uint64_t as_master, as_other;
  } cases[]{
      {"a master before a higher standby", {master_low, standby_high}, 90, 90},
      {"of two masters the higher", {master_low, master_high}, 91, 91},
      {"of standbys the highest", {standby_low, standby_high, discovering}, 0, 92},
      {"of equal ones the lower GUID", {standby_high, lower_guid}, 0, 80},
      {"one that discovers outranks a standby", {standby_low, discovering}, 0, 94},
      {"inactive ones do not count", {asleep, standby_low}, 0, 93},
      {"nor do those below us", {asleep, below}, 0, 0},
      {"three", {below, master_low, standby_high}, 90, 90},
  };
  for (auto at : cases) {
    std::ranges::sort(at.others, {}, [](const OtherSm& sm) { return sm.info.guid; });
    do {
      EXPECT_EQ(winner(true, at.others), at.as_master) << at.name;
      EXPECT_EQ(winner(false, at.others), at.as_other) << at.name;
    } while (
        std::ranges::next_permutation(at.others, {}, [](const OtherSm& sm) { return sm.info.guid; }).found);
  }
}

TEST(Election, TheSmThatWeGiveWayToIsNamedWithItsPlace) {
  auto master = other_sm(SmState::master, 3, 90);
  master.at = {Guid{0x77}, PortNum{2}};
  master.lid = Lid{12};

  const auto found = gives_way_to(kSelf, false, {other_sm(SmState::standby, 9, 91), master});

  ASSERT_TRUE(found);
  EXPECT_EQ(found->at, (PeerPort{Guid{0x77}, PortNum{2}}));
  EXPECT_EQ(found->lid, Lid{12});
}

}  // namespace
}  // namespace smd::sm
