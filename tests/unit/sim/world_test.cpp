// SPDX-License-Identifier: Apache-2.0
// Virtual time: nothing waits, everything happens in order, the same twice.
#include <gtest/gtest.h>

#include "tests/support/sim_lab.h"

namespace smd::test {
namespace {

asio::awaitable<int> after(mad::Clock& clock, sim::Duration time, int value) {  // NOLINT(*-reference-*)
  co_await clock.sleep(time);
  co_return value;
}

asio::awaitable<void> never(asio::io_context& io) {  // NOLINT(*-reference-*)
  asio::experimental::channel<void(error_code)> channel(io, 1);
  co_await channel.async_receive(asio::as_tuple(asio::use_awaitable));
}

TEST(World, TimeJumpsToTheNextTimer) {
  sim::World world(two_leaves());
  EXPECT_EQ(world.run(after(world.clock(), std::chrono::hours(5), 7)), 7);
  EXPECT_EQ(world.now().time_since_epoch(), std::chrono::hours(5));
}

TEST(World, ATaskThatCanNeverEndIsADeadlockThatSaysWhoWaits) {
  sim::World world(two_leaves());
  Asker asker(world);
  asker.get<wire::NodeInfo>(path({1}));
  try {
    world.run(never(world.io()));
    FAIL() << "it ended";
  } catch (const sim::Deadlock& deadlock) {
    const std::string text = deadlock.what();
    EXPECT_NE(text.find("nothing can happen any more at 1.000000 s"), std::string::npos) << text;
    EXPECT_NE(text.find("h0 port 1 sent 1 received 1"), std::string::npos) << text;
  }
}

TEST(World, ATaskThatTakesTooLongIsGivenUp) {
  sim::World world(two_leaves());
  world.limit(std::chrono::hours(1));
  bring_up_two_leaves(*std::make_unique<Asker>(world));
  world.fabric().faults().link_down({"h1"});  // its trap is sent again and again
  EXPECT_THROW(world.run(never(world.io())), sim::Deadlock);
}

TEST(World, FaultsComeAtTheirTimes) {
  sim::World world(two_leaves());
  Asker asker(world);
  world.at(world.now() + std::chrono::milliseconds(1500), [](sim::Fabric& f) { f.faults().remove("h1"); });
  EXPECT_TRUE(asker.get<wire::NodeInfo>(path({1, 3, 2, 1})).good());
  EXPECT_TRUE(asker.get<wire::NodeInfo>(path({1, 3, 2, 1})).good());
  EXPECT_TRUE(asker.get<wire::NodeInfo>(path({1, 3, 2, 1})).none());
}

std::uint64_t trace_of(std::uint64_t seed) {
  auto options = sim::World::default_options();
  options.seed = seed;
  sim::World world(two_leaves(), options);
  Asker asker(world);
  world.fabric().faults().loss(0.2);
  bring_up_two_leaves(asker);
  world.fabric().faults().link_down({"h1"});
  world.run_for(std::chrono::seconds(3));
  return world.trace_hash();
}

TEST(World, OneSeedGivesOneTrace) {
  EXPECT_EQ(trace_of(7), trace_of(7));
  EXPECT_NE(trace_of(7), trace_of(8));
}

TEST(World, TheTraceHoldsEveryMadWithItsTime) {
  sim::World world(two_leaves());
  Asker asker(world);
  world.record_trace(true);
  asker.get<wire::NodeInfo>(path({1}));
  ASSERT_EQ(world.trace().size(), 2U);
  EXPECT_TRUE(world.trace()[0].sent);
  EXPECT_FALSE(world.trace()[1].sent);
  // A hop each way and the agent's service.
  EXPECT_EQ(world.trace()[1].at - world.trace()[0].at, std::chrono::nanoseconds(11'000));
}

TEST(World, AManagersPortIsTheFirstCaWithALink) {
  FabricBuilder b;
  b.add_ca("alone");
  const auto sw = b.add_switch("sw", 2), ca = b.add_ca("ca", 2);
  b.link(ca, 2, sw, 1);
  sim::World world(b.fabric());
  const auto transport = world.transport();
  const auto local = transport->local();
  ASSERT_TRUE(local);
  EXPECT_EQ(local->device, "ca");
  EXPECT_EQ(local->port, PortNum{2});
  EXPECT_EQ(local->guid, Guid{0x3002});
  EXPECT_TRUE(local->link_up);
}

TEST(World, ClientsLiveAtASwitchToo) {
  sim::World world(two_leaves());
  Asker asker(world, {"spine"});
  EXPECT_EQ(asker.get<wire::NodeInfo>(path({})).value.node, Guid{0x2000});
  EXPECT_EQ(asker.get<wire::NodeInfo>(path({2, 1})).value.node, Guid{0x5000});
}

}  // namespace
}  // namespace smd::test
