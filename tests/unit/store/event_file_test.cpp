// SPDX-License-Identifier: Apache-2.0
// Events since a time are found without a look at all those before it.
#include "smd/store/event_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/store_lab.h"

namespace smd::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Seconds since 1970, and an epoch.
constexpr std::int64_t kTimeOfFirst = 1'700'000'000;

std::chrono::system_clock::time_point time_at(std::int64_t second) {
  return std::chrono::system_clock::from_time_t(kTimeOfFirst + second);
}

events::EventPtr timed_event(std::uint64_t number, const std::string& name, std::int64_t second) {
  auto event = std::make_shared<events::Event>();
  event->sequence = number;
  event->epoch = kTimeOfFirst;
  event->subnet = "a";
  event->wall = time_at(second);
  event->payload = events::log_event_of({.event = name, .subnet = "a", .fields = {}});
  return event;
}

std::vector<std::string> names_since(EventFile& file, std::int64_t second, EventFile::Range range = {}) {
  range.before = {kTimeOfFirst + 1, 0};
  range.from = time_at(second);
  std::vector<std::string> names;
  EXPECT_TRUE(file.read(range, [&](const events::EventPtr& event) {
    names.push_back(std::get<events::NamedLogEvent>(event->payload).name);
    return true;
  }));
  return names;
}

/// The second one of clocks that were set back.
std::vector<events::EventPtr> five_events() {
  return {timed_event(1, "early", 0), timed_event(2, "ahead", 500), timed_event(3, "set_back", 10),
          timed_event(4, "late", 400), timed_event(5, "latest", 600)};
}

TEST(EventFile, EventsSinceATimeAreFoundThoughAClockWasSetBack) {
  const test::TemporaryFolder folder;
  auto file = EventFile::open(folder.path() / "events.db");
  ASSERT_TRUE(file);
  EXPECT_THAT(names_since(*file, 0), IsEmpty());
  ASSERT_TRUE(file->append(five_events(), 100));

  EXPECT_THAT(names_since(*file, 400), ElementsAre("ahead", "late", "latest"));
  EXPECT_THAT(names_since(*file, 400, {.backwards = true}), ElementsAre("latest", "late", "ahead"));
  EXPECT_THAT(names_since(*file, 400, {.after = {kTimeOfFirst, 2}}), ElementsAre("late", "latest"));
  EXPECT_THAT(names_since(*file, 501), ElementsAre("latest"));
  EXPECT_THAT(names_since(*file, 0), ElementsAre("early", "ahead", "set_back", "late", "latest"));
  EXPECT_THAT(names_since(*file, 601), IsEmpty());
}

TEST(EventFile, FilesGetTheirIndexOfTimesWhenTheyAreOpened) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "events.db";
  {
    auto before = EventFile::open(path);
    ASSERT_TRUE(before);
    ASSERT_TRUE(before->append(five_events(), 100));
  }
  auto raw = Connection::open(path.string(), Connection::Mode::create);
  ASSERT_TRUE(raw);
  ASSERT_TRUE(raw->execute("DROP INDEX events_by_time")) << "as smd left it before";
  auto file = EventFile::open(path);
  ASSERT_TRUE(file);

  EXPECT_THAT(names_since(*file, 501), ElementsAre("latest"));
  const auto plan =
      raw->rows("EXPLAIN QUERY PLAN SELECT epoch FROM events INDEXED BY events_by_time WHERE time >= 1");
  ASSERT_TRUE(plan) << "the file has it now";
}

}  // namespace
}  // namespace smd::store
