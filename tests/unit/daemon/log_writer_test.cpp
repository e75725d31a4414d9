// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "smd/log/log.h"
#include "smd/log/writer.h"

namespace smd::log {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A target that takes no line as long as it is shut.
struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  bool open = false;
  std::vector<std::string> lines;

  void set_open() {
    {
      const std::scoped_lock guard(mutex);
      open = true;
    }
    changed.notify_all();
  }
  static Output output(std::shared_ptr<Gate> gate) {
    return [gate = std::move(gate)](const Record&, std::string_view line) {
      std::unique_lock lock(gate->mutex);
      gate->changed.wait(lock, [&] { return gate->open; });
      gate->lines.emplace_back(line);
    };
  }
};

constexpr auto kPatience = std::chrono::milliseconds(50);

TEST(LogWriter, ATargetThatTakesNothingHoldsNoCallerUpAndWhatIsLostIsCounted) {
  const auto gate = std::make_shared<Gate>();
  Writer writer(Gate::output(gate), {.bytes = 10, .patience = kPatience});

  EXPECT_TRUE(writer.put({}, "aaaaa"));
  EXPECT_TRUE(writer.put({}, "bbbbb"));
  EXPECT_FALSE(writer.put({}, "c"));
  EXPECT_FALSE(writer.put({}, "d"));
  EXPECT_EQ(writer.take_lost(), 0U) << "no room for a line that tells it";
  writer.drain();  // gives up
  gate->set_open();
  writer.drain();

  EXPECT_EQ(writer.take_lost(), 2U);
  EXPECT_EQ(writer.take_lost(), 0U);
  const std::scoped_lock guard(gate->mutex);
  EXPECT_THAT(gate->lines, ElementsAre("aaaaa", "bbbbb"));
}

TEST(LogWriter, ALineLongerThanTheRoomFitsAlone) {
  const auto gate = std::make_shared<Gate>();
  gate->set_open();
  Writer writer(Gate::output(gate), {.bytes = 10, .patience = kPatience});

  EXPECT_TRUE(writer.put({}, std::string(100, 'x')));
  writer.drain();
  EXPECT_TRUE(writer.put({}, std::string(100, 'y')));
}

TEST(LogWriter, WhatWaitsAtTheEndIsWrittenWithoutItsOwner) {
  const auto gate = std::make_shared<Gate>();
  {
    Writer writer(Gate::output(gate));
    writer.put({}, "last");
  }
  gate->set_open();

  std::unique_lock lock(gate->mutex);
  for (int i = 0; i < 1000 && gate->lines.empty(); ++i) {
    lock.unlock();
    usleep(10'000);
    lock.lock();
  }
  EXPECT_THAT(gate->lines, ElementsAre("last"));
}

/// stderr is a pipe that is not read until `read()`.
class StderrUnread {
 public:
  StderrUnread() : saved_(dup(STDERR_FILENO)) {
    EXPECT_EQ(pipe2(ends_.data(), O_CLOEXEC), 0);
    dup2(ends_[1], STDERR_FILENO);
    close(ends_[1]);
  }
  ~StderrUnread() {
    dup2(saved_, STDERR_FILENO);
    close(saved_);
    close(ends_[0]);
  }
  StderrUnread(const StderrUnread&) = delete;
  StderrUnread& operator=(const StderrUnread&) = delete;

  /// Until `end` has come, or nothing for ten seconds.
  std::string read_until(const std::string& end) const {
    std::string all;
    std::array<char, 65536> some{};
    pollfd ready{.fd = ends_[0], .events = POLLIN, .revents = 0};
    while (!all.contains(end) && poll(&ready, 1, 10'000) == 1) {
      const auto got = ::read(ends_[0], some.data(), some.size());
      if (got <= 0) break;
      all.append(some.data(), static_cast<std::size_t>(got));
    }
    return all;
  }

 private:
  int saved_;
  std::array<int, 2> ends_{};
};

TEST(LogWriter, AnUnreadStderrStopsNobodyAndTheLostLinesAreTold) {
  const StderrUnread unread;
  setenv("JOURNAL_STREAM", "0:0", 1);
  const auto log = Log::open({});
  unsetenv("JOURNAL_STREAM");
  ASSERT_TRUE(log) << log.error();

  const std::string kilobyte(1024, 'x');
  constexpr int kLines = 6000;  // 6 MiB: more than waits
  for (int i = 0; i < kLines; ++i) log->info("sweep.line").kv("number", i).kv("text", kilobyte).always();
  const auto first = unread.read_until("number=1 ");
  EXPECT_THAT(first, HasSubstr("number=0 "));
  auto rest = unread.read_until("number=3000 ");
  // Half of the room is free now: the next line comes with the count of those that are lost.
  log->info("sweep.last").always();
  rest += unread.read_until("sweep.last");
  EXPECT_THAT(rest, HasSubstr("warn  log.dropped lines="));
  log->finish();
}

}  // namespace
}  // namespace smd::log
