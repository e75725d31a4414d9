// SPDX-License-Identifier: Apache-2.0
// A new reader of events, which the manager knows nothing of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "mad/wire/trap.h"
#include "tests/support/fake_gsi.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Managed;
using testing::Contains;
using testing::ElementsAre;
using testing::SizeIs;

class Subscribers : public testing::Test {
 protected:
  Subscribers() : world_(test::spec("ft2:8")), manager_(world_), group_(world_.io().get_executor()) {}
  ~Subscribers() override { world_.run(group_.stop()); }
  void run(sim::Duration time) {
    if (group_.count() == 0) group_.spawn(manager_->run());
    world_.run_for(time);
  }
  static std::vector<std::string> names(const events::Batch& batch) {
    std::vector<std::string> names;
    for (const auto& event : batch.events) names.emplace_back(name_of(*event));
    return names;
  }

  sim::World world_;
  Managed manager_;
  mad::TaskGroup group_;
};

TEST_F(Subscribers, SeeTheFabricComeUp) {
  events::Reader reader(
      manager_.ring(), events::Start::at_oldest(),
      {.kinds = events::kinds_of<events::SmStateChanged, events::StateChanged, events::SweepEnded>});
  run(5s);

  const auto batch = reader.read(100);
  EXPECT_THAT(names(batch), ElementsAre("sm_state_changed", "state_changed", "sweep_ended"));
  EXPECT_EQ(batch.events[0]->subnet, "test");
  EXPECT_EQ(std::get<events::SmStateChanged>(batch.events[0]->payload),
            (events::SmStateChanged{.from = wire::SmState::discovering, .to = wire::SmState::master}));
  EXPECT_EQ(std::get<events::StateChanged>(batch.events[1]->payload), (events::StateChanged{.now = "up"}));
  const auto& sweep = std::get<events::SweepEnded>(batch.events[2]->payload);
  EXPECT_EQ(sweep.sweep, "heavy");
  EXPECT_EQ(sweep.reason, "start");
  EXPECT_THAT(sweep.came_up, SizeIs(32));
}

TEST_F(Subscribers, SeeACutLinkAsATrapAndByItsNamedEvent) {
  run(5s);
  events::Reader reader(manager_.ring(), events::Start::at_end());

  world_.fabric().faults().link_down({"leaf003", PortNum{6}});
  run(5s);

  const auto batch = reader.read(1000);
  const auto trap =
      std::ranges::find(batch.events, "trap_received", [](const auto& e) { return name_of(*e); });
  ASSERT_NE(trap, batch.events.end());
  EXPECT_EQ(std::get<events::TrapReceived>((*trap)->payload).notice.trap, wire::trap::kLinkStateChange);
  const auto down = std::ranges::find(batch.events, "link.down", [](const auto& e) { return name_of(*e); });
  ASSERT_NE(down, batch.events.end());
  EXPECT_GT((*down)->sequence, (*trap)->sequence);
  EXPECT_GE((*down)->monotonic, (*trap)->monotonic);
  EXPECT_THAT(std::get<events::NamedLogEvent>((*down)->payload).fields.unpack(),
              Contains(testing::Field(&log::Field::value, "leaf003")));
  EXPECT_THAT(names(batch), testing::IsSupersetOf({"sweep_ended", "state_changed"}));
}

TEST_F(Subscribers, FindTheSnapshotThatAnEventTellsOf) {
  std::vector<std::string> differ;
  std::size_t sweeps = 0;
  manager_.hear({.kinds = events::kinds_of<events::SweepEnded>}, [&](const events::Event& event) {
    const auto& told = std::get<events::SweepEnded>(event.payload);
    const auto now = manager_->published();
    ++sweeps;
    if (!now || now->summary.reason != told.reason || to_string(now->summary.state) != told.state)
      differ.push_back(told.reason);
  });
  run(5s);
  world_.fabric().faults().link_down({"leaf003", PortNum{6}});
  run(5s);

  EXPECT_GE(sweeps, 2U);
  EXPECT_THAT(differ, testing::IsEmpty());
}

TEST_F(Subscribers, ThatDoNotReadGetAGapAndTheManagerGoesOn) {
  run(5s);
  events::Reader slow(manager_.ring(), events::Start::at_end(), {}, [] {});
  const auto begin = manager_.ring().last();

  for (unsigned round = 0; manager_.ring().last() < begin + 1500; ++round) {
    ASSERT_LT(round, 2000U);
    world_.fabric().faults().link_down({"leaf003", PortNum{6}});
    run(10s);
    world_.fabric().faults().link_up({"leaf003", PortNum{6}});
    run(10s);
  }
  run(60s);

  EXPECT_EQ(manager_.last().summary.state, sm::SweepState::up);
  const auto batch = slow.read(10'000);
  ASSERT_TRUE(batch.gap);
  EXPECT_EQ(batch.gap->from, begin + 1);
  EXPECT_THAT(batch.events, SizeIs(1000));
  EXPECT_EQ(batch.events.front()->sequence, batch.gap->to + 1);
  EXPECT_EQ(batch.events.back()->sequence, manager_.ring().last());
}

/// The manager's side of subnet administration's requests.
struct Requests final : sm::FabricRequests {
  void set_groups(sm::Groups /*groups*/) override { ++groups; }
  void reregister(const std::vector<Guid>& /*ports*/) override {}
  void set_guids(const std::vector<sm::GuidBlock>& /*blocks*/) override {}
  void read_vl_tables_first(Guid /*node*/) override {}
  unsigned groups = 0;
};

/// A server that has its events from a ring, and nothing else.
class SaSubscriber : public testing::Test {
 protected:
  SaSubscriber()
      : snapshot_(std::make_shared<const sm::Snapshot>(lab_.snapshot())),
        server_({.executor = lab_.world().io().get_executor(),
                 .gsi = gsi_,
                 .compute = compute_,
                 .indexing = compute_,
                 .source = [this] { return snapshot_; },
                 .registry = registry_,
                 .log = {},
                 .clock = lab_.world().clock(),
                 .wall = [] { return std::int64_t{1}; },
                 .fabric = &requests_,
                 .events = &ring_,
                 .subnet = "a"},
                {}) {}
  ~SaSubscriber() override { lab_.world().run(server_.stop()); }

  test::SaLab lab_{"ft2:4"};
  test::FakeGsi gsi_;
  sm::InlineCompute compute_;
  sm::Published<sa::Registry> registry_;
  Requests requests_;
  events::EventRing ring_{log::real_times(), {.events = 2}};
  std::shared_ptr<const sm::Snapshot> snapshot_;
  sa::Server server_;
};

TEST_F(SaSubscriber, LooksAtItsClientsAfterASweepOfItsSubnet) {
  ring_.publish("b", events::SweepEnded{});
  ring_.publish("a", events::SnapshotPublished{});
  lab_.world().run_for(100ms);
  EXPECT_EQ(requests_.groups, 0U);

  ring_.publish("a", events::SweepEnded{});
  lab_.world().run_for(100ms);

  EXPECT_EQ(requests_.groups, 1U);
}

TEST_F(SaSubscriber, TakesAGapForASweep) {
  for (int i = 0; i < 3; ++i) ring_.publish("a", events::SnapshotPublished{});

  lab_.world().run_for(100ms);

  EXPECT_EQ(requests_.groups, 1U);
}

}  // namespace
}  // namespace smd
