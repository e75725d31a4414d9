// SPDX-License-Identifier: Apache-2.0
// Writers and readers on threads of their own; what the thread sanitizer looks at.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <semaphore>
#include <thread>
#include <vector>

#include "smd/events/ring.h"

namespace smd::events {
namespace {

constexpr std::uint64_t kWriters = 4, kEach = 2000;

/// The number that a writer gives its event, of those of its own.
std::size_t number_in(const Event& event) {
  return std::get<ClientsReregistered>(event.payload).ports.front().value();
}

/// Events that have come, and those in gaps.
struct Seen {
  std::uint64_t last = 0, read = 0, missed = 0;
  std::vector<std::uint64_t> of_writer = std::vector<std::uint64_t>(kWriters);
  bool in_order = true;

  void take(const Batch& batch) {
    if (batch.gap) {
      in_order = in_order && batch.gap->from == last + 1 && batch.gap->to >= batch.gap->from;
      missed += batch.gap->to - batch.gap->from + 1;
      last = batch.gap->to;
    }
    for (const auto& event : batch.events) {
      in_order = in_order && event->sequence == last + 1;
      last = event->sequence;
      ++read;
      auto& before = of_writer[static_cast<std::size_t>(event->subnet.front() - 'a')];
      in_order = in_order && number_in(*event) > before;
      before = number_in(*event);
    }
  }
};

/// Reads to the end each time that it is woken.
void follow(EventRing& ring, std::uint64_t until, Seen& seen) {
  std::counting_semaphore<> woken(0);
  Reader reader(ring, Start::after(0), {}, [&] { woken.release(); });
  for (;;) {
    for (auto batch = reader.read(16);; batch = reader.read(16)) {
      seen.take(batch);
      if (batch.at_end && batch.events.empty()) break;
    }
    if (seen.last == until) return;
    woken.acquire();
  }
}

TEST(RingThreads, EachReaderSeesEveryEventOnceInOrderOrInAGap) {
  EventRing ring(log::real_times(), {.events = 500});
  std::vector<Seen> seen(3);
  {
    std::vector<std::jthread> threads;
    for (auto& one : seen) threads.emplace_back([&] { follow(ring, kWriters * kEach, one); });
    for (std::uint64_t w = 0; w < kWriters; ++w) {
      threads.emplace_back([&ring, w] {
        const std::string name(1, static_cast<char>('a' + w));
        for (std::uint64_t i = 1; i <= kEach; ++i) ring.publish(name, ClientsReregistered{{Guid{i}}});
      });
    }
  }

  EXPECT_EQ(ring.last(), kWriters * kEach);
  EXPECT_EQ(ring.size(), 500U);
  for (const auto& one : seen) {
    EXPECT_TRUE(one.in_order);
    EXPECT_EQ(one.read + one.missed, kWriters * kEach);
  }
}

TEST(RingThreads, ReadersComeAndGoWhileOthersWrite) {
  EventRing ring(log::real_times(), {.events = 100});
  std::atomic<bool> stop = false;
  std::atomic<unsigned> late = 0;  // calls that a reader got after its end
  {
    std::vector<std::jthread> writers;
    for (int w = 0; w < 2; ++w) {
      writers.emplace_back([&] {
        while (!stop) ring.publish("a", OwnPortAnswers{});
      });
    }
    for (int i = 0; i < 300; ++i) {
      const auto gone = std::make_shared<std::atomic<bool>>(false);
      std::optional<Reader> reader;
      reader.emplace(ring, Start::at_end(), Wants{}, [&late, gone] {
        std::this_thread::yield();
        late += *gone ? 1U : 0U;
      });
      reader->read(10);
      if (i % 2 == 0) std::this_thread::yield();
      reader.reset();
      *gone = true;
    }
    stop = true;
  }
  EXPECT_EQ(late, 0U);
}

}  // namespace
}  // namespace smd::events
