// SPDX-License-Identifier: Apache-2.0
#include "smd/schedule/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string_view>
#include <vector>

#include "tests/unit/schedule/schedule_lab.h"

namespace smd::sm {
namespace {

using namespace std::chrono_literals;
using test::kNode;
using test::kOther;
using test::ScheduleLab;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct DueCase {
  std::string_view name;
  std::function<void(ScheduleLab&)> arrange;
  std::optional<std::int64_t> sweep, any;  ///< milliseconds from now
};

const std::vector<DueCase>& due_cases() {
  static const std::vector<DueCase> kCases{
      {"nothing is asked", [](ScheduleLab&) {}, {}, {}},
      {"a light sweep is asked", [](ScheduleLab& lab) { lab.agenda.add(Work::light, "test"); }, {}, 0},
      {"a part is asked", [](ScheduleLab& lab) { lab.agenda.add(PartSet{Part::multicast}); }, {}, 0},
      {"VL tables alone", [](ScheduleLab& lab) { lab.agenda.add(Work::vl_tables, "test"); }, {}, 0},
      {"the first event after quiet", [](ScheduleLab& lab) { lab.agenda.look_at(kNode, "trap"); }, 0, 0},
      {"an event right after a sweep",
       [](ScheduleLab& lab) {
         lab.scheduler.swept();
         lab.agenda.look_at(kNode, "trap");
       },
       200, 200},
      {"a heavy sweep right after a sweep",
       [](ScheduleLab& lab) {
         lab.scheduler.swept();
         lab.agenda.add(Work::heavy, "test");
       },
       200, 200},
      {"VL tables wait for a sweep that is not due yet",
       [](ScheduleLab& lab) {
         lab.scheduler.swept();
         lab.agenda.look_at(kNode, "trap");
         lab.agenda.add(Work::vl_tables, "test");
       },
       200, 200},
      {"of two nodes the one that was not looked at just now",
       [](ScheduleLab& lab) {
         lab.agenda.look_at(kNode, "trap");
         lab.scheduler.take_sweep();
         lab.agenda.look_at(kNode, "trap");
         lab.agenda.look_at(kOther, "trap");
       },
       0, 0},
      {"a heavy sweep after a heavy sweep",
       [](ScheduleLab& lab) {
         lab.agenda.add(Work::heavy, "trap");
         lab.scheduler.take_sweep();
         lab.go(50ms);
         lab.agenda.add(Work::heavy, "trap");
       },
       150, 150},
      {"Sets have failed",
       [](ScheduleLab& lab) { lab.scheduler.repairs().failed({kNode}, lab.clock.now(), 1ms); }, 50, 50},
      {"nodes that a look has found wait for nothing",
       [](ScheduleLab& lab) {
         lab.scheduler.swept();
         lab.scheduler.look_at_once({kNode}, "port state change");
       },
       0, 0},
      {"an event while sweeps are off",
       [](ScheduleLab& lab) {
         lab.scheduler.pause(lab.clock.now() + 1h);
         lab.agenda.look_at(kNode, "trap");
         lab.agenda.add(Work::heavy, "trap");
         lab.scheduler.repairs().failed({kNode}, lab.clock.now(), 1ms);
       },
       {},
       {}},
      {"a heavy sweep that is asked for while they are off",
       [](ScheduleLab& lab) {
         lab.scheduler.pause(lab.clock.now() + 1h);
         lab.agenda.add(Work::heavy, "asked for", true);
       },
       0, 0},
      {"a part while they are off",
       [](ScheduleLab& lab) {
         lab.scheduler.pause(lab.clock.now() + 1h);
         lab.agenda.look_at(kNode, "trap");
         lab.agenda.add(PartSet{Part::multicast});
       },
       {},
       0},
      {"what has waited while they were off",
       [](ScheduleLab& lab) {
         lab.scheduler.pause(lab.clock.now() + 1h);
         lab.agenda.look_at(kNode, "trap");
         lab.go(1h);
       },
       0, 0},
      {"what has waited until they are put on",
       [](ScheduleLab& lab) {
         lab.scheduler.pause(lab.clock.now() + 1h);
         lab.agenda.look_at(kNode, "trap");
         lab.scheduler.resume();
       },
       0, 0},
  };
  return kCases;
}

/// While sweeps are off neither the interval nor an event wakes the manager; the end of it does.
TEST(Scheduler, NoSweepIsDueUntilTheyAreOnAgain) {
  ScheduleLab lab;
  mad::TaskGroup tasks(lab.io.get_executor());
  bool due = false;
  lab.scheduler.pause(lab.clock.now() + 1h);
  lab.agenda.look_at(kNode, "trap");
  const auto wait = [](ScheduleLab* lab, bool* due) -> asio::awaitable<void> {
    *due = co_await lab->scheduler.wait({}, true);
  };
  tasks.spawn(wait(&lab, &due));
  lab.settle();
  lab.go(59min);
  EXPECT_FALSE(due);
  lab.go(1min);
  EXPECT_TRUE(due);
  EXPECT_THAT(lab.scheduler.take_due(true).suspects, ElementsAre(kNode));
}

/// What an operator asks for does not put sweeps on for what events ask for.
TEST(Scheduler, AfterTheSweepThatWasAskedForTheyAreStillOff) {
  ScheduleLab lab;
  lab.scheduler.pause(lab.clock.now() + 1h);
  lab.agenda.add(Work::heavy, "asked for", true);
  EXPECT_EQ(lab.scheduler.take_due(true).reason, "asked for");
  lab.agenda.look_at(kNode, "trap");
  EXPECT_FALSE(lab.scheduler.sweep_due());
}

TEST(Scheduler, KnowsWhenWorkIsDue) {
  for (const auto& row : due_cases()) {
    SCOPED_TRACE(row.name);
    ScheduleLab lab;
    row.arrange(lab);

    EXPECT_EQ(lab.in_ms(lab.scheduler.sweep_due()), row.sweep);
    EXPECT_EQ(lab.in_ms(lab.scheduler.due()), row.any);
    EXPECT_EQ(lab.scheduler.newer_waits(), row.sweep == 0);
  }
}

TEST(Scheduler, ANodeThatGoesOnReportingIsLeftOnTheAgendaWhileOthersAreLookedAt) {
  ScheduleLab lab;
  lab.agenda.look_at(kNode, "trap 128");
  lab.scheduler.take_sweep();
  lab.agenda.look_at(kNode, "trap 128");
  lab.agenda.look_at(kOther, "trap 128");

  EXPECT_THAT(lab.scheduler.take_sweep().suspects, ElementsAre(kOther));
  EXPECT_THAT(lab.agenda.suspects(), ElementsAre(kNode));
  lab.go(200ms);
  EXPECT_THAT(lab.scheduler.take_sweep().suspects, ElementsAre(kNode));
}

TEST(Scheduler, AHeavySweepTakesAllThatSingleNodesWereAskedFor) {
  ScheduleLab lab;
  lab.scheduler.look_at_once({kNode}, "port state change");
  lab.agenda.look_at(kOther, "trap 128");
  lab.agenda.add(Work::heavy, "reload");

  const auto asked = lab.scheduler.take_sweep();

  EXPECT_EQ(asked.work, WorkSet{Work::heavy});
  EXPECT_EQ(asked.reason, "reload");
  EXPECT_THAT(asked.suspects, IsEmpty());
  EXPECT_FALSE(lab.scheduler.sweep_due());
}

TEST(Scheduler, NodesOfFailedSetsAreLookedAtWhenTheirTimeHasCome) {
  ScheduleLab lab;
  lab.scheduler.repairs().failed({kNode}, lab.clock.now(), 1ms);
  EXPECT_THAT(lab.scheduler.take_sweep().suspects, IsEmpty());
  lab.go(50ms);

  const auto asked = lab.scheduler.take_sweep();

  EXPECT_EQ(asked.reason, "failed Sets");
  EXPECT_THAT(asked.suspects, ElementsAre(kNode));
  EXPECT_FALSE(lab.scheduler.sweep_due());
}

TEST(Scheduler, EventsGoFirstAndALightSweepAfterEachSweep) {
  ScheduleLab lab;
  lab.agenda.add(Work::light, "interval");
  lab.agenda.add(Work::trap_gap, "trap gap");
  lab.agenda.add(PartSet{Part::guids});
  std::vector<WorkSet> order;
  for (unsigned i = 0; i < 5; ++i) {
    lab.agenda.look_at(Guid{0x100 + i}, "trap 128");
    order.push_back(lab.scheduler.take_due(true).work);
  }

  EXPECT_THAT(order, ElementsAre(WorkSet{Work::incremental}, WorkSet{Work::light}, WorkSet{Work::incremental},
                                 WorkSet{Work::incremental}, WorkSet{Work::incremental}));
  EXPECT_EQ(lab.scheduler.take_due(true).work, WorkSet{Work::trap_gap});
  EXPECT_EQ(lab.scheduler.take_due(true).parts, PartSet{Part::guids});
}

TEST(Scheduler, WithoutASubnetThereIsNothingButAHeavySweep) {
  ScheduleLab lab;
  lab.agenda.add(Work::light, "test");
  lab.agenda.add(Work::heavy, "start");

  EXPECT_EQ(lab.scheduler.take_due(false).work, WorkSet{Work::heavy});
}

TEST(Scheduler, NodesThatWaitForLongerThanHalfASecondArePutOff) {
  ScheduleLab lab;
  for (unsigned i = 0; i < 9; ++i) {  // a burst, and three more: 1.6 s
    lab.agenda.look_at(kNode, "trap 128");
    lab.go(std::chrono::milliseconds(lab.in_ms(lab.scheduler.sweep_due()).value()));
    lab.scheduler.take_sweep();
  }
  Asked asked{.work = {Work::incremental}, .parts = {}, .reason = "audit", .suspects = {kNode, kOther}};

  EXPECT_TRUE(lab.scheduler.put_off(asked));
  EXPECT_THAT(asked.suspects, ElementsAre(kOther));
  EXPECT_THAT(lab.agenda.suspects(), ElementsAre(kNode));
  asked.suspects = {kNode};
  EXPECT_FALSE(lab.scheduler.put_off(asked));
}

TEST(Scheduler, TroubleIsLookedAtAgainMoreAndMoreSeldom) {
  ScheduleLab lab;
  std::vector<int> seconds;
  for (int second = 0; second <= 80; ++second) {
    if (lab.scheduler.try_again(kNode)) seconds.push_back(second);
    lab.go(1s);
  }

  EXPECT_THAT(seconds, ElementsAre(0, 10, 30, 70));
  lab.scheduler.configure(test::schedule_config());
  EXPECT_TRUE(lab.scheduler.try_again(kNode)) << "another configuration begins anew";
}

TEST(Scheduler, OnlyOtherWorkHoldsUpTheReadingOfVlTables) {
  ScheduleLab lab;
  lab.agenda.add(Work::vl_tables, "VL tables");
  EXPECT_FALSE(lab.scheduler.other_work_waits());
  lab.scheduler.swept();
  lab.agenda.look_at(kNode, "trap 128");
  EXPECT_FALSE(lab.scheduler.other_work_waits()) << "it is not due yet";
  lab.go(200ms);
  EXPECT_TRUE(lab.scheduler.other_work_waits());
}

TEST(Scheduler, LinksThatChangedMakeTheNextLightSweepALookForMore) {
  ScheduleLab lab;
  lab.scheduler.look_soon(lab.clock.now() + 100ms);
  EXPECT_TRUE(lab.scheduler.looks_again());
  EXPECT_TRUE(lab.scheduler.take_look_soon());
  EXPECT_FALSE(lab.scheduler.take_look_soon());
  EXPECT_FALSE(lab.scheduler.looks_again());
}

}  // namespace
}  // namespace smd::sm
