// SPDX-License-Identifier: Apache-2.0
// What a scheduler waits for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "smd/schedule/patient_group.h"
#include "tests/unit/schedule/schedule_lab.h"

namespace smd::sm {
namespace {

using namespace std::chrono_literals;
using test::kNode;
using test::ScheduleLab;

asio::awaitable<void> wait_once(Scheduler* scheduler, BackgroundTimes times, bool subnet_known,
                                std::optional<bool>* woken) {
  *woken = co_await scheduler->wait(times, subnet_known);
}

struct WaitCase {
  std::string_view name;
  std::function<void(ScheduleLab&)> arrange;
  std::optional<mad::Duration> retraining, vl_tables;  ///< from now
  std::int64_t due_ms = 0;                             ///< when wait() returns
  WorkSet work;                                        ///< what is on the agenda then
  std::optional<mad::Duration> converge = {};          ///< from now
};

const std::vector<WaitCase>& wait_cases() {
  static const std::vector<WaitCase> kCases{
      {"the next light sweep", [](ScheduleLab&) {}, {}, {}, 10'000, {Work::light}},
      {"a light sweep that follows lost links",
       [](ScheduleLab& lab) { lab.scheduler.look_soon(lab.clock.now() + 120ms); },
       {},
       {},
       120,
       {Work::light}},
      {"nodes that fell silent",
       [](ScheduleLab& lab) { lab.scheduler.silent_after_sweep({kNode}); },
       {},
       {},
       100,
       {Work::light}},
      {"a switch that may not send a trap yet",
       [](ScheduleLab& lab) { lab.scheduler.link_reported(kNode); },
       {},
       {},
       150,
       {Work::trap_gap}},
      {"links that train", [](ScheduleLab&) {}, 250ms, {}, 250, {Work::retraining}},
      {"VL tables when nothing else is asked", [](ScheduleLab&) {}, {}, 100ms, 100, {Work::vl_tables}},
      {"repaired tables that may converge before the next light sweep",
       [](ScheduleLab&) {},
       {},
       {},
       3'000,
       {Work::light},
       3s},
      {"a sweep, and no VL tables before it",
       [](ScheduleLab& lab) {
         lab.scheduler.swept();
         lab.agenda.look_at(kNode, "trap 128");
       },
       {},
       100ms,
       200,
       {Work::incremental}},
      {"failed Sets",
       [](ScheduleLab& lab) { lab.scheduler.repairs().failed({kNode}, lab.clock.now(), 1ms); },
       {},
       {},
       50,
       {}},
  };
  return kCases;
}

TEST(Scheduler, WaitsForTheFirstOfAllThatWillBeDue) {
  for (const auto& row : wait_cases()) {
    SCOPED_TRACE(row.name);
    ScheduleLab lab;
    lab.agenda.add(Work::light, "test");  // the first light sweep is over
    mad::TaskGroup tasks(lab.io.get_executor());
    std::optional<bool> woken;
    tasks.spawn(wait_once(&lab.scheduler, {}, true, &woken));
    lab.go(0ms);
    ASSERT_EQ(woken, true);
    woken.reset();
    lab.scheduler.take_due(true);
    row.arrange(lab);
    const auto from_now = [&](std::optional<mad::Duration> time) {
      return time ? std::optional(lab.clock.now() + *time) : std::nullopt;
    };
    tasks.spawn(wait_once(&lab.scheduler,
                          {.retraining = from_now(row.retraining),
                           .vl_tables = from_now(row.vl_tables),
                           .converge = from_now(row.converge)},
                          true, &woken));

    lab.go(std::chrono::milliseconds(row.due_ms) - 1ms);
    EXPECT_FALSE(woken);
    lab.go(1ms);
    EXPECT_EQ(woken, true);
    for (const auto work : row.work) EXPECT_TRUE(lab.agenda.asks(work));
    EXPECT_EQ(lab.agenda.asks(Work::vl_tables), row.work.contains(Work::vl_tables));
  }
}

TEST(Scheduler, AHeavySweepInAHurryWaitsForNothingThatHappenedBefore) {
  ScheduleLab lab;
  lab.scheduler.swept();
  lab.agenda.add(Work::heavy, "trap 128 about the unknown LID 7");
  EXPECT_FALSE(lab.scheduler.newer_waits());

  lab.agenda.add(Work::heavy, "handover");
  lab.agenda.hurry();

  EXPECT_TRUE(lab.scheduler.newer_waits());
  EXPECT_EQ(lab.scheduler.take_sweep().work, WorkSet{Work::heavy});
  EXPECT_FALSE(lab.agenda.hurried());
}

TEST(Scheduler, AnSmThatHasHandedOverFollowsBeforeAllElse) {
  ScheduleLab lab;
  lab.agenda.add(Work::heavy, "test");
  lab.agenda.hurry();
  lab.agenda.add(Work::follow, "HANDOVER");

  EXPECT_EQ(lab.scheduler.take_due(true).work, WorkSet{Work::follow});
  EXPECT_EQ(lab.scheduler.take_due(true).work, WorkSet{Work::heavy});
}

TEST(Scheduler, WithoutASubnetNoLightSweepIsMade) {
  ScheduleLab lab;
  mad::TaskGroup tasks(lab.io.get_executor());
  std::optional<bool> woken;
  tasks.spawn(wait_once(&lab.scheduler, {}, false, &woken));
  lab.settle();
  EXPECT_FALSE(woken);

  lab.agenda.add(Work::heavy, "start");
  lab.settle();
  EXPECT_EQ(woken, true);
  EXPECT_FALSE(lab.agenda.asks(Work::light));
}

asio::awaitable<void> last(mad::Clock* clock, mad::Duration time, std::string* end) {
  const bool slept = co_await clock->sleep(time);
  *end = slept ? "ended" : "cancelled";
}

asio::awaitable<void> finish(PatientGroup* group, bool* finished) {
  co_await group->finish();
  *finished = true;
}

struct PatienceCase {
  std::string_view name;
  bool sweep_is_due;
  mad::Duration task;
  std::int64_t finished_ms;
  std::string_view end;  ///< of the task
};

TEST(PatientGroup, GivesUpWhatIsNotAnsweredWhileASweepIsDue) {
  const std::vector<PatienceCase> cases{
      {"an answer in time", true, 30ms, 30, "ended"},
      {"a silent node and nothing else to do", false, 800ms, 800, "ended"},
      {"a silent node while a sweep is due", true, 800ms, 50, "cancelled"},
  };
  for (const auto& row : cases) {
    SCOPED_TRACE(row.name);
    ScheduleLab lab;
    if (row.sweep_is_due) lab.agenda.look_at(kNode, "trap 128");
    std::string end;
    bool finished = false;
    PatientGroup group(lab.io.get_executor(), lab.scheduler);
    mad::TaskGroup tasks(lab.io.get_executor());
    group.spawn(last(&lab.clock, row.task, &end));
    tasks.spawn(finish(&group, &finished));

    lab.go(std::chrono::milliseconds(row.finished_ms) - 1ms);
    EXPECT_FALSE(finished);
    lab.go(1ms);
    EXPECT_TRUE(finished);
    EXPECT_EQ(end, row.end);
  }
}

}  // namespace
}  // namespace smd::sm
