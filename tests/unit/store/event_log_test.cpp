// SPDX-License-Identifier: Apache-2.0
// Events outlive the process, in order, and never more than so many.
#include "smd/store/event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/store_lab.h"

namespace smd::store {
namespace {

using events::EventId;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kStart = 1'700'000'000;

/// A process: a ring that began at a time, and its log of events in a folder.
class Process {
 public:
  explicit Process(const test::TemporaryFolder& folder, std::int64_t began, EventLogOptions options = {})
      : wall_(began),
        ring_({.steady = [] { return std::chrono::nanoseconds(0); },
               .wall = [this] { return std::chrono::system_clock::from_time_t(wall_); }},
              {.events = 50}) {
    options.batch = std::chrono::milliseconds(1);
    options.retry = std::chrono::milliseconds(1);
    ring_.begin_epoch(static_cast<std::uint64_t>(began));
    log_ = std::make_unique<EventLog>(ring_);
    log_->open(folder.path(), lines_.log, options);
  }
  void publish(const std::string& name, const std::string& subnet = "a", const std::string& value = "x") {
    ring_.publish(subnet,
                  events::log_event_of({.event = name, .subnet = subnet, .fields = {{"key", value, false}}}));
  }
  void become_master() { ring_.publish("a", events::SmStateChanged{.to = wire::SmState::master}); }
  EventsFound find(const EventQuery& query) { return log_->find(query); }
  EventLog& log() { return *log_; }
  events::EventRing& ring() { return ring_; }
  const test::KeptLines& lines() const { return lines_; }
  /// Ends it, as SIGTERM does.
  void end() { log_.reset(); }

 private:
  std::int64_t wall_ = 0;
  test::KeptLines lines_;
  events::EventRing ring_;
  std::unique_ptr<EventLog> log_;
};

std::vector<std::string> names(const EventsFound& found) {
  std::vector<std::string> names;
  for (const auto& event : found.events)
    names.push_back(std::get<events::NamedLogEvent>(event->payload).name);
  return names;
}

TEST(EventLog, EventsOfAProcessBeforeAreThereAndIdsGoUp) {
  const test::TemporaryFolder folder;
  EventId last;
  {
    Process before(folder, kStart);
    before.publish("one");
    before.publish("other", "b");
    before.publish("two");
    last = before.find({}).next;
  }
  Process now(folder, kStart + 10);
  now.publish("three");

  EXPECT_THAT(names(now.find({.subnet = "a"})), ElementsAre("one", "two", "three"));
  EXPECT_THAT(names(now.find({.limit = 2, .subnet = "a"})), ElementsAre("two", "three"));
  const auto after = now.find({.after = last, .subnet = "a"});
  EXPECT_THAT(names(after), ElementsAre("three"));
  EXPECT_FALSE(after.gap);
  EXPECT_GT(after.next, last);
  const auto first = now.find({.after = EventId{kStart, 0}, .limit = 1, .subnet = "a"});
  EXPECT_THAT(names(first), ElementsAre("one"));
  EXPECT_TRUE(first.more);
  EXPECT_THAT(names(now.find({.after = first.next, .subnet = "a"})), ElementsAre("two", "three"));
}

TEST(EventLog, NamesAndTimesAreLookedForInTheRingAndInTheFile) {
  const test::TemporaryFolder folder;
  {
    Process before(folder, kStart);
    for (const auto* name : {"a.old", "b.old", "a.last"}) before.publish(name);
  }
  Process now(folder, kStart + 10);
  for (const auto* name : {"a.new", "b.new"}) now.publish(name);
  const auto named = [](std::string_view name) { return name.starts_with("a."); };
  const auto from = std::chrono::system_clock::from_time_t(kStart + 5);
  const EventId first{kStart, 0};

  EXPECT_THAT(names(now.find({.named = named})), ElementsAre("a.old", "a.last", "a.new"));
  EXPECT_THAT(names(now.find({.limit = 2, .named = named})), ElementsAre("a.last", "a.new"));
  EXPECT_THAT(names(now.find({.after = first, .named = named})), ElementsAre("a.old", "a.last", "a.new"));
  EXPECT_THAT(names(now.find({.from = from})), ElementsAre("a.new", "b.new"));
  EXPECT_THAT(names(now.find({.after = first, .from = from})), ElementsAre("a.new", "b.new"));
  EXPECT_THAT(names(now.find({.subnet = "a", .from = from, .named = named})), ElementsAre("a.new"));
}

TEST(EventLog, OfTheLatestEventsOnlySoManyAreLookedAt) {
  const test::TemporaryFolder folder;
  {
    Process before(folder, kStart);
    for (const auto* name : {"one", "two", "three"}) before.publish(name);
  }
  Process now(folder, kStart + 10);
  now.publish("four");
  std::vector<std::string> looked;
  const auto found = now.find({.most = 3, .wanted = [&](const events::Event& event) {
                                 looked.push_back(std::get<events::NamedLogEvent>(event.payload).name);
                                 return looked.back() == "two";
                               }});

  EXPECT_THAT(looked, ElementsAre("four", "three", "two"));
  EXPECT_THAT(names(found), ElementsAre("two"));
  EXPECT_THAT(names(now.find({.most = 1})), ElementsAre("four"));
}

TEST(EventLog, ThePartitionsOfAnEventsPortsOutliveTheProcess) {
  const test::TemporaryFolder folder;
  const events::MembersOf of_both{.end = std::vector<std::string>{"blue", "a \"b\", c"},
                                  .peer = std::vector<std::string>{}};
  {
    Process before(folder, kStart);
    before.ring().publish("a", events::log_event_of({.event = "link.down", .subnet = "a"}, of_both));
    before.publish("none");
  }
  Process now(folder, kStart + 10);
  const auto found = now.find({});
  ASSERT_EQ(found.events.size(), 2U);
  EXPECT_EQ(std::get<events::NamedLogEvent>(found.events[0]->payload).members, of_both);
  EXPECT_EQ(std::get<events::NamedLogEvent>(found.events[1]->payload).members, events::MembersOf{});
}

TEST(EventLog, AFileOfTheVersionBeforeIsTakenOver) {
  const test::TemporaryFolder folder;
  {
    Process before(folder, kStart);
    before.publish("one");
  }
  {
    auto file = Connection::open((folder.path() / "events.db").string(), Connection::Mode::create);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->execute("ALTER TABLE events DROP COLUMN members; PRAGMA user_version = 1"));
  }
  {
    Process now(folder, kStart + 10);
    now.publish("two");
    EXPECT_THAT(*now.lines().lines, IsEmpty());
  }
  Process later(folder, kStart + 20);
  EXPECT_THAT(names(later.find({})), ElementsAre("one", "two"));
}

TEST(EventLog, AClockThatWasSetBackLetsNoIdGoDown) {
  const test::TemporaryFolder folder;
  EventId last;
  {
    Process before(folder, kStart);
    before.publish("one");
    last = before.find({}).next;
  }
  Process now(folder, kStart - 3600);
  now.publish("two");

  const auto after = now.find({.after = last});
  EXPECT_THAT(names(after), ElementsAre("two"));
  EXPECT_GT(after.events.front()->id(), last);
}

/// The clock alone says what comes later.
TEST(EventLog, IdsGoUpWhereTheStoreIsLost) {
  const test::TemporaryFolder lost, fresh;
  EventId last;
  {
    Process before(lost, kStart);
    before.become_master();
    before.publish("one");
    last = before.find({}).next;
  }
  Process now(fresh, kStart + 2);
  now.publish("two");

  const auto after = now.find({.after = last});
  EXPECT_THAT(names(after), ElementsAre("two"));
  EXPECT_TRUE(after.gap) << "what else has happened is not known";
}

TEST(EventLog, AMastershipBeginsAnEpoch) {
  const test::TemporaryFolder folder;
  Process now(folder, kStart);
  now.publish("standby");
  const auto before = now.find({}).next;
  now.become_master();
  now.publish("master");

  const auto found = now.find({.after = before});
  ASSERT_THAT(names(found), ElementsAre("master"));
  EXPECT_GT(found.events.front()->epoch, before.epoch);
  // A client of the master before, which became that after we had started.
  const auto from_other = now.find({.after = EventId{before.epoch, 1'000'000}});
  EXPECT_THAT(names(from_other), ElementsAre("master"));
}

TEST(EventLog, TheFileHoldsTheLatestEventsAndTheRingFewer) {
  const test::TemporaryFolder folder;
  {
    Process before(folder, kStart, {.most = 120});
    for (int i = 0; i < 300; ++i) {
      before.publish("e" + std::to_string(i));
      // The ring holds 50: what is not written by then is lost, and said to be.
      while (i % 20 == 0 && before.find({.limit = 1000}).events.size() + 60 <
                                std::min<std::size_t>(120, static_cast<std::size_t>(i)))
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (i % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
  }
  Process now(folder, kStart + 1);
  const auto all = now.find({.limit = 1000});
  EXPECT_LE(all.events.size(), 120U);
  EXPECT_GE(all.events.size(), 50U);
  EXPECT_EQ(names(all).back(), "e299");
  EXPECT_TRUE(now.find({.after = EventId{kStart, 1}}).gap) << "the first ones are gone";
  EXPECT_FALSE(now.find({.after = all.events.front()->id()}).gap);
}

TEST(EventLog, WhatAnAskerHasNotFoundIsNotLookedAtAgain) {
  const test::TemporaryFolder folder;
  EventId first;
  {
    Process before(folder, kStart);
    before.publish("one");
    first = before.find({}).next;
    for (int i = 0; i < 20; ++i) before.publish("kept");
  }
  Process now(folder, kStart + 10);
  for (int i = 0; i < 20; ++i) now.publish("held");
  std::size_t looked = 0;
  const auto ask = [&](const std::string& asker, const std::string& name) {
    looked = 0;
    return now.find({.after = first,
                     .wanted =
                         [&](const events::Event& event) {
                           ++looked;
                           return std::get<events::NamedLogEvent>(event.payload).name == name;
                         },
                     .asker = asker});
  };
  const auto begun = ask("a", "new");
  EXPECT_EQ(looked, 40U);
  EXPECT_THAT(names(begun), IsEmpty());
  EXPECT_FALSE(begun.gap);

  const auto again = ask("a", "new");
  EXPECT_EQ(looked, 0U);
  EXPECT_EQ(again.next, begun.next);
  EXPECT_FALSE(again.gap);
  now.publish("new");
  now.publish("held");
  EXPECT_THAT(names(ask("a", "new")), ElementsAre("new"));
  EXPECT_EQ(looked, 2U);
  EXPECT_THAT(names(ask("a", "new")), ElementsAre("new")) << "who asks again gets it again";
  EXPECT_EQ(ask("b", "held").events.size(), 21U) << "another one has looked at nothing yet";
  EXPECT_EQ(ask("", "kept").events.size(), 20U);
}

TEST(EventLog, SearchesThatFoundNothingAreForgottenWhenThereAreMore) {
  EmptySearches searches;
  for (std::uint64_t i = 1; i <= 1'001; ++i) searches.keep("a", EventId{1, i}, EventId{2, i});
  EXPECT_EQ(searches.end_of("a", EventId{1, 1}), (EventId{1, 1}));
  EXPECT_EQ(searches.end_of("a", EventId{1, 2}), (EventId{2, 2}));
  EXPECT_EQ(searches.end_of("b", EventId{1, 2}), (EventId{1, 2}));
}

TEST(EventLog, TheLatestEventsOfAnAskerAreLookedForOnce) {
  const test::TemporaryFolder folder;
  {
    Process before(folder, kStart);
    before.publish("own");
    for (int i = 0; i < 20; ++i) before.publish("foreign");
  }
  Process now(folder, kStart + 10, {.most = 8});
  now.publish("own");
  std::size_t looked = 0;
  const auto ask = [&](const std::string& asker, std::size_t limit) {
    looked = 0;
    return now.find({.limit = limit,
                     .wanted =
                         [&](const events::Event& event) {
                           ++looked;
                           return std::get<events::NamedLogEvent>(event.payload).name == "own";
                         },
                     .asker = asker});
  };
  const auto begun = ask("a", 3);
  const auto own = begun.events.size();
  EXPECT_GE(looked, 8U);
  EXPECT_GE(own, 1U);

  const auto again = ask("a", 3);
  EXPECT_EQ(looked, 0U);
  EXPECT_EQ(again.next, begun.next);
  now.publish("foreign");
  now.publish("own");
  const auto later = ask("a", 3);
  EXPECT_EQ(looked, 2U);
  EXPECT_EQ(later.events.back()->id(), later.next);
  EXPECT_GE(ask("b", 3).events.size(), 2U);
  EXPECT_GT(looked, 2U) << "another one has looked at nothing yet";
  EXPECT_THAT(names(ask("a", 1)), ElementsAre("own"));

  for (int i = 0; i < 10; ++i) now.publish("foreign");
  while (!now.find({.after = EventId{kStart, 1}}).gap)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_THAT(names(ask("a", 3)), ElementsAre("own", "own")) << "the first one is not kept any more";
  EXPECT_LE(looked, 10U);
  EXPECT_THAT(names(ask("", 3)), ElementsAre("own", "own"));
}

events::EventPtr kept_event(std::uint64_t number, const std::string& name, events::MembersOf members = {},
                            const std::string& subnet = "a") {
  auto event = std::make_shared<events::Event>();
  event->sequence = number;
  event->epoch = kStart;
  event->subnet = subnet;
  const bool of_partition = name.starts_with("partition.");
  event->payload = events::log_event_of(
      {.event = name, .subnet = subnet, .fields = {{of_partition ? "partition" : "key", "x", false}}},
      std::move(members));
  return event;
}

std::vector<std::string> read_names(EventFile& file, EventFile::Range range) {
  range.before = {kStart + 1, 0};
  std::vector<std::string> names;
  EXPECT_TRUE(file.read(range, [&](const events::EventPtr& event) {
    names.push_back(std::get<events::NamedLogEvent>(event->payload).name);
    return true;
  }));
  return names;
}

TEST(EventLog, EventsThatCannotBeAboutATenantAreNotRead) {
  const test::TemporaryFolder folder;
  auto file = EventFile::open(folder.path() / "events.db");
  ASSERT_TRUE(file);
  using Names = std::vector<std::string>;
  const std::vector<events::EventPtr> all{
      kept_event(1, "foreign", {.end = Names{"red"}, .peer = Names{}}),
      kept_event(2, "own", {.end = Names{"red", "bl\"ue"}, .peer = Names{}}),
      kept_event(3, "peer", {.end = Names{}, .peer = Names{"bl\"ue"}}),
      kept_event(4, "not_known", {.end = Names{"red"}, .peer = {}}),
      kept_event(5, "none_named"),
      kept_event(6, "partition.changed", {.end = Names{"red"}, .peer = Names{}}),
      kept_event(7, "elsewhere", {.end = Names{"red"}, .peer = Names{}}, "b")};
  ASSERT_TRUE(file->append(all, 100));

  const auto read = read_names(*file, {.about = AboutPartitions{.subnets = {"a"}, .partitions = {"bl\"ue"}}});
  EXPECT_THAT(read, ElementsAre("own", "peer", "not_known", "none_named", "partition.changed", "elsewhere"));
  const Names many(33, "green");
  EXPECT_EQ(read_names(*file, {.about = AboutPartitions{.subnets = {"a"}, .partitions = many}}).size(), 7U)
      << "these are compared elsewhere";
}

TEST(EventLog, NamesAreLookedForBehindTheFirstPage) {
  const test::TemporaryFolder folder;
  auto file = EventFile::open(folder.path() / "events.db");
  ASSERT_TRUE(file);
  std::vector<events::EventPtr> all;
  for (std::uint64_t i = 1; i <= 1'500; ++i)
    all.push_back(kept_event(i, i % 700 == 1 ? "rare." + std::to_string(i) : "often"));
  ASSERT_TRUE(file->append(all, 2'000));

  const auto named = [](std::string_view name) { return name.starts_with("rare."); };
  EXPECT_THAT(read_names(*file, {.named = named}), ElementsAre("rare.1", "rare.701", "rare.1401"));
  EXPECT_THAT(read_names(*file, {.named = named, .backwards = true}),
              ElementsAre("rare.1401", "rare.701", "rare.1"));
  EXPECT_THAT(read_names(*file, {.named = [](std::string_view) { return false; }}), IsEmpty());
}

TEST(EventLog, UnknownPlacesAreGaps) {
  const test::TemporaryFolder folder;
  Process now(folder, kStart);
  now.publish("one");

  const auto strange = now.find({.after = EventId{7, 3}});
  EXPECT_TRUE(strange.gap);
  EXPECT_THAT(names(strange), ElementsAre("one"));
  const auto future = now.find({.after = EventId{kStart * 2, 3}});
  EXPECT_TRUE(future.gap);
  EXPECT_THAT(names(future), IsEmpty());
  EXPECT_EQ(future.next, now.log().last()) << "it goes on with what comes";
  EXPECT_TRUE(now.find({.after = EventId{~std::uint64_t{0}, ~std::uint64_t{0}}}).gap);
}

/// Without it no reader would know: the file is read up to what the ring had before.
TEST(EventLog, WhatTheRingDropsWhileTheFileIsReadIsAGap) {
  const test::TemporaryFolder folder;
  {
    Process before(folder, kStart);
    before.publish("one");
    before.publish("two");
  }
  Process now(folder, kStart + 10);
  now.publish("three");
  const EventId first{kStart, 1};
  ASSERT_FALSE(now.find({.after = first}).gap);
  bool storm = false;

  const auto found = now.find({.after = first, .limit = 1000, .wanted = [&](const events::Event&) {
                                 for (int i = std::exchange(storm, true) ? 60 : 0; i < 60; ++i)
                                   now.publish("later");
                                 return true;
                               }});

  EXPECT_EQ(names(found).front(), "two");
  EXPECT_EQ(names(found).back(), "later");
  EXPECT_TRUE(found.gap) << "three is gone";
}

TEST(EventLog, AnyBytesComeBack) {
  const test::TemporaryFolder folder;
  const std::string rubbish("\"<b>'\\\n\x1b[31m\xff\xc3\0end", 19);
  {
    Process before(folder, kStart);
    before.publish("one", "a", rubbish);
  }
  Process now(folder, kStart + 1);
  const auto found = now.find({});
  ASSERT_EQ(found.events.size(), 1U);
  EXPECT_EQ(std::get<events::NamedLogEvent>(found.events[0]->payload).fields.unpack().at(0).value, rubbish);
}

TEST(EventLog, AFileThatIsNoneIsSetAsideAndNothingStops) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() / "events.db")
      << "this is no database, but a text that is long enough to be one";
  {
    Process now(folder, kStart);
    EXPECT_EQ(now.lines().count("store.events_failed"), 1U);
    now.publish("one");
    EXPECT_THAT(names(now.find({})), ElementsAre("one"));
  }
  EXPECT_EQ(folder.count("events.db.set-aside"), 1U);
  Process later(folder, kStart + 1);
  EXPECT_THAT(names(later.find({})), ElementsAre("one")) << "the new file has it";
}

TEST(EventLog, RowsThatMakeNoSenseAreLeftOut) {
  const test::TemporaryFolder folder;
  {
    Process before(folder, kStart);
    before.publish("one");
    before.publish("two");
  }
  {
    auto raw = Connection::open((folder.path() / "events.db").string(), Connection::Mode::create);
    ASSERT_TRUE(raw);
    ASSERT_TRUE(raw->execute("UPDATE events SET fields = '[[1]]' WHERE name = 'one'"));
  }
  Process now(folder, kStart + 1);
  EXPECT_THAT(names(now.find({})), ElementsAre("two"));
}

TEST(EventLog, PositionsOfReceiversOutliveTheProcess) {
  const test::TemporaryFolder folder;
  {
    Process before(folder, kStart);
    EXPECT_EQ(before.log().position("https://a/"), std::nullopt);
    before.log().set_position("https://a/", {kStart, 4});
    before.log().set_position("https://b/", {kStart, 5});
  }
  Process now(folder, kStart + 1);
  EXPECT_EQ(now.log().position("https://a/"), (EventId{kStart, 4}));
  now.log().keep_positions({"https://b/"});
  EXPECT_EQ(now.log().position("https://a/"), std::nullopt);
  EXPECT_EQ(now.log().position("https://b/"), (EventId{kStart, 5}));
}

}  // namespace
}  // namespace smd::store
