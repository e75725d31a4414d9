// SPDX-License-Identifier: Apache-2.0
#include "smd/events/subscriber.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "smd/events/log_sink.h"

namespace smd::events {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ASubscriber : public testing::Test {
 protected:
  void subscribe(Start start = Start::at_end()) {
    subscriber_.emplace(io_.get_executor(), ring_, Wants{},
                        Subscriber::Calls{.event =
                                              [this](const Event& event) {
                                                seen_.push_back(event.sequence);
                                                if (then_) then_(event);
                                              },
                                          .gap = [this](Gap gap) { gaps_.push_back(gap); }},
                        start);
  }
  void publish(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) ring_.publish("a", SnapshotPublished{});
  }

  asio::io_context io_{1};
  EventRing ring_{log::real_times(), {.events = 4}};
  std::vector<std::uint64_t> seen_;
  std::vector<Gap> gaps_;
  std::function<void(const Event&)> then_;
  std::optional<Subscriber> subscriber_;
};

TEST_F(ASubscriber, GetsAnEventOfItsOwnThreadBeforePublishReturns) {
  subscribe();
  asio::post(io_, [this] {
    publish(1);
    EXPECT_THAT(seen_, ElementsAre(1));
    publish(1);
    EXPECT_THAT(seen_, ElementsAre(1, 2));
  });

  io_.run();
}

TEST_F(ASubscriber, GetsAnEventOfAnotherThreadOnItsOwn) {
  subscribe();
  std::jthread([this] { publish(1); }).join();
  EXPECT_THAT(seen_, IsEmpty());

  io_.run();

  EXPECT_THAT(seen_, ElementsAre(1));
}

TEST_F(ASubscriber, GetsWhatIsPublishedWithinItsCallAfterThat) {
  subscribe();
  std::vector<std::string> order;
  then_ = [&](const Event& event) {
    order.push_back("begin " + std::to_string(event.sequence));
    if (event.sequence < 3) publish(1);
    order.push_back("end " + std::to_string(event.sequence));
  };
  asio::post(io_, [this] { publish(1); });

  io_.run();

  EXPECT_THAT(order, ElementsAre("begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3"));
}

TEST_F(ASubscriber, IsToldOfEventsThatItMissed) {
  subscribe();
  publish(10);  // not on its thread

  io_.run();

  EXPECT_THAT(gaps_, ElementsAre(Gap{.from = 1, .to = 6}));
  EXPECT_THAT(seen_, ElementsAre(7, 8, 9, 10));
}

TEST_F(ASubscriber, BeginsWithWhatIsThereWhereItAsksForThat) {
  publish(2);
  subscribe(Start::after(1));

  io_.run();

  EXPECT_THAT(seen_, ElementsAre(2));
}

TEST_F(ASubscriber, LetsOtherWorkRunWhileEventsGoOn) {
  subscribe();
  bool other = false;
  then_ = [&](const Event& event) {
    if (event.sequence == 1) asio::post(io_, [&] { other = true; });
    if (!other && event.sequence < 100'000) publish(1);
  };
  asio::post(io_, [this] { publish(1); });

  io_.run();

  EXPECT_TRUE(other);
  EXPECT_LT(seen_.size(), 1000U);
}

TEST_F(ASubscriber, GetsNothingAfterItsEnd) {
  subscribe();
  publish(1);  // its call waits for the thread
  subscriber_.reset();
  publish(1);

  io_.run();

  EXPECT_THAT(seen_, IsEmpty());
}

TEST(LogSink, ALineOfTheLogIsAnEventWithItsKeys) {
  const auto ring = std::make_shared<EventRing>(log::real_times());
  const log::Log log({}, [](const log::Record&, std::string_view) {}, log::real_times());
  log.set_sink(log_sink(ring));
  Reader reader(*ring, Start::at_oldest(), {.kinds = kinds_of<NamedLogEvent>});

  log.with_subnet("east").warn("link.down").port(Guid{7}, "leaf 1", PortNum{3}).kv("cause", "trap 128");

  const auto batch = reader.read(10);
  ASSERT_EQ(batch.events.size(), 1U);
  EXPECT_EQ(batch.events[0]->subnet, "east");
  EXPECT_EQ(name_of(*batch.events[0]), "link.down");
  const auto& line = std::get<NamedLogEvent>(batch.events[0]->payload);
  EXPECT_EQ(line.level, log::Level::warn);
  EXPECT_THAT(line.guids, ElementsAre(Guid{7}));
  EXPECT_THAT(line.fields.unpack(), ElementsAre(log::Field{.key = "guid", .value = "0x0000000000000007"},
                                                log::Field{.key = "name", .value = "leaf 1"},
                                                log::Field{.key = "port", .value = "3", .bare = true},
                                                log::Field{.key = "cause", .value = "trap 128"}));
}

TEST(LogSink, ASubscriberMayWriteToTheLogItself) {
  asio::io_context io{1};
  const auto ring = std::make_shared<EventRing>(log::real_times());
  std::vector<std::string> lines;
  const log::Log log(
      {}, [&](const log::Record&, std::string_view line) { lines.emplace_back(line); }, log::real_times());
  log.set_sink(log_sink(ring));
  const Subscriber subscriber(io.get_executor(), *ring, {.kinds = kinds_of<NamedLogEvent>},
                              {.event = [&](const Event& event) {
                                if (name_of(event) == "node.gone") log.info("node.told");
                              }});

  asio::post(io, [&] { log.info("node.gone"); });
  io.run();

  EXPECT_THAT(lines, ElementsAre("node.gone", "node.told"));
}

}  // namespace
}  // namespace smd::events
