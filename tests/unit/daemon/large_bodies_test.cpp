// SPDX-License-Identifier: Apache-2.0
#include "smd/api/large_bodies.h"

#include <gtest/gtest.h>

#include <boost/asio/detached.hpp>
#include <string>

#include "mad/virtual_clock.h"

namespace smd::api {
namespace {

/// Work ends when the test says so.
class HeldCompute final : public sm::Compute {
 public:
  using sm::Compute::execute;
  asio::awaitable<bool> execute(Work work) override {
    ++running;
    const bool woken = co_await end.wait();
    --running;
    if (woken) work({});
    co_return woken;
  }
  const routing::Parallel& parallel() const override { return serial_; }

  unsigned running = 0;
  mad::WaitList end;

 private:
  routing::Serial serial_;
};

class LargeBodiesTest : public testing::Test {
 protected:
  void poll() {
    io_.restart();
    io_.poll();
  }
  asio::awaitable<void> read(std::string name) {
    const auto place = co_await bodies_.place();
    done_ += name + "+ ";
    co_await bodies_.execute([&] { done_ += name + " "; });
    done_ += name + "- ";
  }
  void TearDown() override {
    asio::co_spawn(io_, bodies_.stop(), asio::detached);
    asio::co_spawn(io_, tasks_.stop(), asio::detached);
    poll();
  }

  asio::io_context io_{1};
  mad::VirtualClock clock_;
  HeldCompute compute_;
  LargeBodies bodies_{io_.get_executor(), clock_, compute_};
  mad::TaskGroup tasks_{io_.get_executor()};
  std::string done_;
};

TEST_F(LargeBodiesTest, AFewAreReadAndOneIsAnsweredAtATime) {
  for (const auto* name : {"a", "b", "c", "d", "e"}) tasks_.spawn(read(name));
  poll();
  EXPECT_EQ(done_, "a+ b+ c+ d+ ");
  EXPECT_EQ(compute_.running, 1U);
  compute_.end.wake_all();
  poll();
  EXPECT_EQ(done_, "a+ b+ c+ d+ a a- e+ ") << "whose place is free is the next one's";
  EXPECT_EQ(compute_.running, 1U);
  for (int i = 0; i < 4; ++i) {
    compute_.end.wake_all();
    poll();
  }
  EXPECT_EQ(done_, "a+ b+ c+ d+ a a- e+ b b- c c- d d- e e- ");
  EXPECT_EQ(compute_.running, 0U);
}

TEST_F(LargeBodiesTest, MemoryIsGivenBackOnceAWhileAfterTheLastOfManyChanges) {
  for (int i = 0; i < 3; ++i) bodies_.give_back_soon();
  poll();
  EXPECT_EQ(compute_.running, 0U);
  EXPECT_TRUE(clock_.advance());
  poll();
  EXPECT_EQ(compute_.running, 1U);
  compute_.end.wake_all();
  poll();
  EXPECT_EQ(compute_.running, 0U);
  EXPECT_FALSE(clock_.advance()) << "nothing waits";
}

}  // namespace
}  // namespace smd::api
