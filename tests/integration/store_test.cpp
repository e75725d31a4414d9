// SPDX-License-Identifier: Apache-2.0
// Managers and what outlives them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mad/wire/attributes.h"
#include "tests/support/managed_world.h"
#include "tests/support/store_lab.h"

namespace smd {
namespace {

using test::Managed;

/// Nothing is kept before release().
class SlowToCommit final : public store::Store {
 public:
  sm::StoredPtr loaded() const override { return kept_; }
  asio::awaitable<bool> commit(sm::StoredPtr now) override {
    ++asked_;
    if (held_) co_await released_.wait();
    kept_ = std::move(now);
    co_return true;
  }
  void release() {
    held_ = false;
    released_.wake_all();
  }
  int asked() const { return asked_; }

 private:
  sm::StoredPtr kept_ = std::make_shared<const sm::Stored>();
  mad::WaitList released_;
  bool held_ = true;
  int asked_ = 0;
};

TEST(StoreAndManager, NothingIsSetBeforeTheLidsAreKept) {
  sim::World world(test::spec("ft2:8"));
  SlowToCommit slow;
  Managed manager(world, {}, {}, &slow);
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(manager->run());

  world.run_for(std::chrono::seconds(5));
  EXPECT_EQ(slow.asked(), 1);
  EXPECT_EQ(world.fabric().counts().sets(), 0U);

  slow.release();
  world.run_for(std::chrono::seconds(1));
  world.run(group.stop());
  EXPECT_EQ(manager.last().summary.state, sm::SweepState::up);
  EXPECT_EQ(slow.loaded()->lids.size(), 44U);
}

TEST(StoreAndManager, WhatAnUnchangedFabricHasIsCommittedOnce) {
  sim::World world(test::spec("ft2:8"));
  SlowToCommit store;
  store.release();
  Managed manager(world, {}, {}, &store);
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(manager->run());
  world.run_for(std::chrono::seconds(5));  // what belongs to the fabric is kept a little later
  const auto kept = store.loaded();

  manager->requests().resweep(sm::Resweep::heavy, "test");
  world.run_for(std::chrono::seconds(1));
  world.run(group.stop());

  EXPECT_EQ(store.loaded(), kept) << "the same pointer: nothing to compare, nothing to write";
}

/// Nodes of both kinds, a field of both attributes.
void make_forgetful(sim::World& world) {
  for (const auto* node : {"h00003", "leaf001", "spine000"}) {
    world.fabric().faults().forgets(node, wire::PortInfo::kAttribute, "NeighborMTU");
    world.fabric().faults().forgets(node, wire::PortInfo::kAttribute, "SubnetTimeOut");
  }
}

TEST(StoreAndManager, WhatNodesDoNotKeepIsNotSetByTheNextProcess) {
  sim::World world(test::spec("ft2:8"));
  make_forgetful(world);
  store::MemoryStore store;
  {
    Managed first(world, {}, test::once(), &store);
    world.run(first->run());
    EXPECT_GT(first.lines().count("field.not_kept"), 0U);
  }
  world.fabric().counts().clear();
  Managed second(world, {}, test::once(), &store);

  world.run(second->run());

  EXPECT_EQ(world.fabric().counts().sets(), 0U);
  EXPECT_EQ(second.last().summary.state, sm::SweepState::up);
  EXPECT_EQ(second.lines().count("field.not_kept"), 0U);
}

TEST(StoreAndManager, ANodeThatRestartedMeanwhileIsAskedAgain) {
  sim::World world(test::spec("ft2:8"));
  make_forgetful(world);
  store::MemoryStore store;
  {
    Managed first(world, {}, test::once(), &store);
    world.run(first->run());
  }
  const auto lid = world.fabric().port_info({"h00003", PortNum{1}})->lid;
  world.fabric().faults().reboot("h00003");
  world.run_for(std::chrono::seconds(5));
  Managed second(world, {}, test::once(), &store);

  world.run(second->run());

  EXPECT_GT(second.lines().count("field.not_kept"), 0U);
  EXPECT_EQ(world.fabric().port_info({"h00003", PortNum{1}})->lid, lid);
}

TEST(StoreAndManager, APortThatWasAwayGetsItsLidBackFromTheNextProcess) {
  const auto fabric = test::spec("ft2:8");
  sim::World world(fabric);
  store::MemoryStore store;
  {
    Managed first(world, {}, test::once(), &store);
    world.run(first->run());
  }
  const auto lid = world.fabric().port_info({"h00007", PortNum{1}})->lid;
  ASSERT_NE(lid, Lid{});
  world.fabric().faults().reboot("h00007");
  world.fabric().faults().remove("h00007");
  {
    Managed second(world, {}, test::once(), &store);
    world.run(second->run());
  }
  world.fabric().faults().restore("h00007");
  world.run_for(std::chrono::seconds(5));
  Managed third(world, {}, test::once(), &store);

  world.run(third->run());

  EXPECT_EQ(world.fabric().port_info({"h00007", PortNum{1}})->lid, lid);
}

TEST(StoreAndManager, ADryRunKeepsNothing) {
  sim::World world(test::spec("ft2:4"));
  SlowToCommit store;
  sm::ManagerOptions options;
  options.dry_run = true;
  Managed manager(world, {}, options, &store);

  world.run(manager->run());

  EXPECT_EQ(store.asked(), 0);
}

TEST(StoreAndManager, OpenSmsLidsAreTakenOverOnce) {
  test::TemporaryFolder folder;
  const auto file = folder.path() / "guid2lid";
  const auto fabric = test::spec("ft2:4");
  std::string text;
  unsigned lid = 600;
  for (const auto& node : fabric.nodes) {
    if (node.type != NodeType::ca) continue;
    text += fmt::format("{0} {1} {1}\n\n", base::port_guid(node, PortNum{1}), lid++);
  }
  test::write_file(file, text);
  config::SubnetConfig config;
  config.lids.import_guid2lid = file;
  store::MemoryStore store;
  sim::World world(fabric);
  {
    Managed manager(world, config, test::once(), &store);
    world.run(manager->run());
    EXPECT_EQ(manager.lines().count("lid.imported"), 1U);
  }
  EXPECT_GE(world.fabric().port_info({"h00001", PortNum{1}})->lid, Lid{600});
  Managed manager(world, config, test::once(), &store);
  world.run(manager->run());
  EXPECT_EQ(manager.lines().count("lid.imported"), 0U);
}

TEST(StoreAndManager, AFileOfLidsThatIsWrongIsNamedAndNotUsed) {
  test::TemporaryFolder folder;
  const auto file = folder.path() / "guid2lid";
  test::write_file(file, "0x0002c90000000001 1 1\nwhat\n");
  config::SubnetConfig config;
  config.lids.import_guid2lid = file;
  sim::World world(test::spec("ft2:4"));
  Managed manager(world, config, test::once());

  world.run(manager->run());

  EXPECT_THAT(manager.lines().first("lid.import_failed"), testing::HasSubstr(file.string() + ":2: "));
  EXPECT_EQ(manager.last().summary.state, sm::SweepState::up);
}

}  // namespace
}  // namespace smd
