// SPDX-License-Identifier: Apache-2.0
// Two masters have met, and the lower-ranked one takes its time until it gives way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "smd/replica/replicator.h"
#include "tests/support/managed_world.h"
#include "tests/support/memory_network.h"
#include "tests/support/replica_data.h"
#include "tests/support/slow_compute.h"

namespace smd {
namespace {

using std::chrono::seconds;

/// A replicator whose SM is what the test says.
class SaidSm {
 public:
  SaidSm(sim::World& world, test::MemoryNetwork& network, Guid self, const std::string& name,
         const std::string& peer)
      : world_(world), self_(self), network_(network.at(name)), compute_(world.clock()) {
    say(wire::SmState::discovering);
    store_ = std::make_unique<replica::Replicator>(
        replica::ReplicatorParts{
            .executor = world.io().get_executor(),
            .clock = world.clock(),
            .compute = compute_,
            .log = {},
            .disk = disk_,
            .network = *network_,
            .sms = sms_,
            .replaced = [] {},
            .inherited = [this](sa::RegistryPtr,
                                sa::RegistryPtr common) { commons.push_back(std::move(common)); },
            .refused = [](Guid) {},
            .wall = [] { return std::int64_t{0}; }},
        replica::ReplicatorOptions{.subnet = "test", .peers = {peer}});
    store_->start();
  }
  ~SaidSm() { world_.run(store_->stop()); }
  SaidSm(const SaidSm&) = delete;
  SaidSm& operator=(const SaidSm&) = delete;

  void say(wire::SmState state, std::optional<Guid> master = std::nullopt, bool contested = false) {
    sm::SmView view;
    view.state.self.guid = self_;
    view.state.sm = state;
    view.state.contested = contested;
    if (master) view.state.polled.emplace().sm.info.guid = *master;
    sms_->set(std::make_shared<const sm::SmView>(std::move(view)));
  }
  void add(std::uint8_t number) {
    auto next = std::make_shared<sa::Registry>(*store_->registry());
    test::register_all(*next, Guid{0x100U + number}, number);
    world_.run(commit(std::move(next)));
  }

  std::vector<sa::RegistryPtr> commons;  ///< what we and an SM that has given way had both

 private:
  asio::awaitable<void> commit(sa::RegistryPtr next) { co_await store_->commit_registry(std::move(next)); }

  sim::World& world_;
  Guid self_;
  std::unique_ptr<replica::Network> network_;
  test::SlowCompute compute_;
  store::MemoryStore disk_;
  std::shared_ptr<sm::PublishedSms> sms_ = std::make_shared<sm::PublishedSms>();
  std::unique_ptr<replica::Replicator> store_;
};

/// Else what has been taken out in the part that stays would come back from the other.
TEST(ContestedTerm, WhatBothHadWhenTheFabricWasCutIsKnownWhenItIsOver) {
  constexpr Guid kHigher{1}, kLower{2};
  sim::World world(test::spec("ft2:4"));
  test::MemoryNetwork network(world.clock());
  SaidSm higher(world, network, kHigher, "higher", "lower"), lower(world, network, kLower, "lower", "higher");
  higher.say(wire::SmState::master);
  lower.say(wire::SmState::standby, kHigher);
  world.run_for(seconds(3));
  higher.add(1);
  world.run_for(seconds(1));

  network.cut = true;
  network.break_all();
  lower.say(wire::SmState::master);
  world.run_for(seconds(2));
  lower.add(2);
  network.cut = false;
  higher.say(wire::SmState::master, kLower, true);
  world.run_for(seconds(5));
  lower.say(wire::SmState::standby, kHigher);
  higher.say(wire::SmState::master);
  world.run_for(seconds(10));

  ASSERT_EQ(higher.commons.size(), 1U);
  EXPECT_EQ(higher.commons[0]->services().size(), 1U);
}

}  // namespace
}  // namespace smd
