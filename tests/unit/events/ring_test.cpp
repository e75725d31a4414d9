// SPDX-License-Identifier: Apache-2.0
#include "smd/events/ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace smd::events {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// A ring with a clock that goes on by a second with each event.
class Ring : public testing::Test {
 protected:
  EventRing& make(Limits limits = {}) {
    return ring_.emplace(
        log::Times{
            .steady = [this] { return std::chrono::nanoseconds(++now_); },
            .wall = [this] { return std::chrono::system_clock::time_point(std::chrono::seconds(now_)); }},
        limits);
  }
  void publish(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) ring_->publish("a", SnapshotPublished{});
  }
  static std::vector<std::uint64_t> numbers(const Batch& batch) {
    std::vector<std::uint64_t> numbers;
    for (const auto& event : batch.events) numbers.push_back(event->sequence);
    return numbers;
  }

  std::int64_t now_ = 0;
  std::optional<EventRing> ring_;
};

TEST_F(Ring, AnEventHasANumberItsTimesAndItsSubnet) {
  auto& ring = make();
  Reader reader(ring, Start::at_oldest());

  EXPECT_EQ(ring.publish("east", OwnPortSilent{.reason = "no answer"}), 1U);
  EXPECT_EQ(ring.publish("", OwnPortAnswers{}), 2U);

  const auto batch = reader.read(10);
  ASSERT_THAT(batch.events, SizeIs(2));
  EXPECT_EQ(batch.events[0]->sequence, 1U);
  EXPECT_EQ(batch.events[0]->subnet, "east");
  EXPECT_EQ(std::get<OwnPortSilent>(batch.events[0]->payload).reason, "no answer");
  EXPECT_EQ(name_of(*batch.events[0]), "own_port_silent");
  EXPECT_EQ(batch.events[1]->monotonic, std::chrono::nanoseconds(2));
  EXPECT_EQ(batch.events[0]->wall.time_since_epoch(), std::chrono::seconds(0));
  EXPECT_EQ(batch.events[1]->wall.time_since_epoch(), std::chrono::seconds(1));
  EXPECT_TRUE(batch.at_end);
  EXPECT_FALSE(batch.gap);
}

TEST_F(Ring, AReaderBeginsAtTheOldestAtTheEndOrAfterANumber) {
  auto& ring = make({.events = 3});
  publish(5);
  Reader oldest(ring, Start::at_oldest()), end(ring, Start::at_end()), after(ring, Start::after(4)),
      late(ring, Start::after(1)), unknown(ring, Start::after(99));
  publish(1);

  EXPECT_THAT(numbers(end.read(10)), ElementsAre(6));
  EXPECT_THAT(numbers(after.read(10)), ElementsAre(5, 6));
  EXPECT_THAT(numbers(unknown.read(10)), ElementsAre(6));
  const auto missed = late.read(10);
  EXPECT_EQ(missed.gap, (Gap{.from = 2, .to = 3}));
  EXPECT_THAT(numbers(missed), ElementsAre(4, 5, 6));
  EXPECT_EQ(oldest.read(10).gap, (Gap{.from = 3, .to = 3})) << "dropped after the reader had begun";
}

TEST_F(Ring, AtMostTheCapacityIsHeldAndASlowReaderGetsAGapOnce) {
  auto& ring = make({.events = 100});
  Reader slow(ring, Start::at_oldest()), quick(ring, Start::at_oldest());
  for (std::size_t i = 0; i < 250; ++i) {
    publish(1);
    EXPECT_THAT(numbers(quick.read(10)), ElementsAre(i + 1));
  }

  EXPECT_EQ(ring.size(), 100U);
  EXPECT_EQ(ring.last(), 250U);
  const auto first = slow.read(60);
  EXPECT_EQ(first.gap, (Gap{.from = 1, .to = 150}));
  EXPECT_THAT(first.events, SizeIs(60));
  EXPECT_EQ(first.events.front()->sequence, 151U);
  EXPECT_FALSE(first.at_end);
  const auto rest = slow.read(60);
  EXPECT_FALSE(rest.gap);
  EXPECT_THAT(rest.events, SizeIs(40));
  EXPECT_TRUE(rest.at_end);
  EXPECT_THAT(slow.read(60).events, IsEmpty());
}

TEST_F(Ring, LargeEventsAreBoundedByTheirMemory) {
  auto& ring = make({.events = 1000, .bytes = 100'000});
  Reader reader(ring, Start::at_oldest());

  for (int i = 0; i < 50; ++i) ring.publish("a", ClientsReregistered{std::vector<Guid>(1000)});
  EXPECT_EQ(ring.size(), 12U);
  ring.publish("a", ClientsReregistered{std::vector<Guid>(20'000)});

  EXPECT_EQ(ring.size(), 1U) << "the newest is held, whatever its size";
  EXPECT_EQ(reader.read(10).gap, (Gap{.from = 1, .to = 50}));
}

TEST_F(Ring, AnEventThatWasReadOutlivesItsPlaceInTheRing) {
  auto& ring = make({.events = 1});
  Reader reader(ring, Start::at_oldest());
  ring.publish("a", OwnPortSilent{.reason = "first"});
  const auto batch = reader.read(1);

  publish(3);

  EXPECT_EQ(std::get<OwnPortSilent>(batch.events.front()->payload).reason, "first");
}

TEST_F(Ring, AReaderGetsTheKindsAndTheSubnetThatItWants) {
  auto& ring = make();
  Reader reader(ring, Start::at_oldest(), {.kinds = kinds_of<OwnPortSilent, StateChanged>, .subnet = "a"});
  for (const std::string subnet : {"a", "b"}) {
    ring.publish(subnet, OwnPortSilent{});
    ring.publish(subnet, OwnPortAnswers{});
    ring.publish(subnet, StateChanged{});
  }

  EXPECT_THAT(numbers(reader.read(10)), ElementsAre(1, 3));
}

TEST_F(Ring, ManyEventsThatAReaderDoesNotWantAreSkippedInOneRead) {
  auto& ring = make();
  Reader reader(ring, Start::at_oldest(), {.kinds = kinds_of<OwnPortAnswers>});
  publish(2000);
  ring.publish("a", OwnPortAnswers{});

  const auto batch = reader.read(5);
  EXPECT_THAT(numbers(batch), ElementsAre(2001));
  EXPECT_TRUE(batch.at_end);
}

TEST_F(Ring, AReaderIsWokenOnceUntilItHasReadToTheEnd) {
  auto& ring = make();
  unsigned woken = 0;
  Reader reader(ring, Start::at_end(), {.kinds = kinds_of<SnapshotPublished>}, [&] { ++woken; });
  ring.publish("a", OwnPortAnswers{});
  EXPECT_EQ(woken, 0U) << "it does not want that";

  publish(3);
  EXPECT_EQ(woken, 1U);
  EXPECT_FALSE(reader.read(2).at_end);
  publish(1);
  EXPECT_EQ(woken, 1U) << "there was more to read";
  EXPECT_TRUE(reader.read(10).at_end);

  publish(2);
  EXPECT_EQ(woken, 2U);
}

TEST_F(Ring, AReaderThatBeginsBeforeTheEndReadsBeforeItIsWoken) {
  auto& ring = make();
  publish(1);
  unsigned woken = 0;
  Reader reader(ring, Start::at_oldest(), {}, [&] { ++woken; });
  publish(1);
  EXPECT_EQ(woken, 0U);

  EXPECT_THAT(numbers(reader.read(10)), ElementsAre(1, 2));
  publish(1);
  EXPECT_EQ(woken, 1U);
}

TEST_F(Ring, AReaderMayReadAndPublishWhileItIsWoken) {
  auto& ring = make();
  std::vector<std::uint64_t> seen;
  Reader* self = nullptr;
  Reader reader(ring, Start::at_end(), {}, [&] {
    for (const auto number : numbers(self->read(10))) seen.push_back(number);
    if (seen.size() < 3) publish(1);
  });
  self = &reader;

  publish(1);

  EXPECT_THAT(seen, ElementsAre(1, 2, 3));
}

TEST_F(Ring, AReaderThatIsGoneIsNotWoken) {
  auto& ring = make();
  unsigned woken = 0;
  {
    const Reader reader(ring, Start::at_end(), {}, [&] { ++woken; });
  }

  publish(1);

  EXPECT_EQ(woken, 0U);
}

TEST_F(Ring, APublisherWithoutARingDropsWhatItIsGiven) {
  auto& ring = make();
  Publisher().publish(OwnPortAnswers{});
  Publisher(nullptr, "a").publish(OwnPortAnswers{});
  EXPECT_EQ(ring.last(), 0U);

  Publisher(&ring, "a").publish(OwnPortAnswers{});

  EXPECT_EQ(ring.last(), 1U);
}

TEST(PackedFields, AreTheFieldsThatWerePacked) {
  const std::vector<log::Field> fields{{.key = "name", .value = std::string("a\0=\"b", 5)},
                                       {.key = "port", .value = "3", .bare = true},
                                       {.key = "", .value = ""}};

  EXPECT_EQ(PackedFields(fields).unpack(), fields);
  EXPECT_THAT(PackedFields().unpack(), IsEmpty());
}

TEST(Events, ALogLineTakesAFractionOfAKilobyte) {
  log::Record record{.event = "link.down"};
  for (const auto* key : {"guid", "name", "port", "peer_guid", "peer_name", "peer_port", "cause"})
    record.fields.push_back({.key = key, .value = "0x0000000000000001"});

  EXPECT_LT(bytes_of({.subnet = "0x0000000000000099", .payload = log_event_of(record)}), 600U);
}

TEST_F(Ring, EpochsGoUpWithEachMastership) {
  now_ = 100;
  auto& ring = make();
  EXPECT_EQ(ring.extent().first, (EventId{100, 1})) << "where the next one would be";
  publish(1);
  ring.publish("a", SmStateChanged{.from = wire::SmState::standby, .to = wire::SmState::master});
  ring.publish("a", SmStateChanged{.from = wire::SmState::master, .to = wire::SmState::standby});
  ring.begin_epoch(50);
  publish(1);
  ring.begin_epoch(5000);
  publish(1);
  Reader reader(ring, Start::at_oldest());
  std::vector<EventId> ids;
  for (const auto& event : reader.read(10).events) ids.push_back(event->id());
  EXPECT_THAT(
      ids, ElementsAre(EventId{100, 1}, EventId{101, 2}, EventId{101, 3}, EventId{101, 4}, EventId{5000, 5}));
  EXPECT_THAT(ring.extent().epochs, ElementsAre(100U, 101U, 5000U));
}

}  // namespace
}  // namespace smd::events
