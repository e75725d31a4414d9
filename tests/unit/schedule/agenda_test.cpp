// SPDX-License-Identifier: Apache-2.0
#include "smd/schedule/agenda.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smd::sm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Agenda, MergesWhatIsAskedOfEachKindAndKeepsTheFirstReason) {
  Agenda agenda;
  agenda.look_at(Guid{2}, "trap 128");
  agenda.look_at(Guid{1}, "trap 144");
  agenda.look_at(Guid{2}, "audit");

  const auto asked = agenda.take({Work::incremental});

  EXPECT_EQ(asked.work, WorkSet{Work::incremental});
  EXPECT_EQ(asked.reason, "trap 128");
  EXPECT_THAT(asked.suspects, ElementsAre(Guid{1}, Guid{2}));
  EXPECT_TRUE(agenda.empty());
}

TEST(Agenda, TakesOnlyWhatIsNamedAndAskedFor) {
  Agenda agenda;
  agenda.add(Work::light, "interval");
  agenda.add(Work::vl_tables, "VL tables");

  EXPECT_EQ(agenda.take({Work::vl_tables, Work::trap_gap}).work, WorkSet{Work::vl_tables});
  EXPECT_TRUE(agenda.asks(Work::light));
  EXPECT_FALSE(agenda.asks(Work::vl_tables));
}

TEST(Agenda, AHeavySweepDoesWhatWasAskedOfSingleNodes) {
  Agenda agenda;
  agenda.look_at(Guid{1}, "trap 128");
  agenda.add(Work::heavy, "reload");

  const auto asked = agenda.take({Work::heavy});

  EXPECT_EQ(asked.reason, "reload");
  EXPECT_FALSE(agenda.asks_sweep());
  EXPECT_THAT(agenda.suspects(), IsEmpty());
}

TEST(Agenda, AReasonIsNotKeptForTheNextTime) {
  Agenda agenda;
  agenda.add(Work::incremental, "first");
  agenda.take({Work::heavy});
  agenda.add(Work::incremental, "second");

  EXPECT_EQ(agenda.take({Work::incremental}).reason, "second");
}

TEST(Agenda, PartsAreASetThatIsTakenAsAWhole) {
  Agenda agenda;
  agenda.add(PartSet{Part::clients});
  agenda.add(PartSet{Part::multicast, Part::clients});

  EXPECT_FALSE(agenda.empty());
  EXPECT_TRUE(agenda.take({Work::light, Work::heavy}).work.empty());
  EXPECT_EQ(agenda.take_parts(), (PartSet{Part::multicast, Part::clients}));
  EXPECT_TRUE(agenda.empty());
}

TEST(Agenda, IsIdleWhereOnlyVlTablesAreToBeRead) {
  Agenda agenda;
  EXPECT_TRUE(agenda.idle());
  agenda.add(Work::vl_tables, "VL tables");
  EXPECT_TRUE(agenda.idle());
  EXPECT_FALSE(agenda.empty());
  agenda.add(PartSet{Part::guids});
  EXPECT_FALSE(agenda.idle());
}

}  // namespace
}  // namespace smd::sm
