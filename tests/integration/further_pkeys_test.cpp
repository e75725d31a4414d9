// SPDX-License-Identifier: Apache-2.0
// P_Keys past the first block of a table, where the first one is as after a reset.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <vector>

#include "mad/sim/state/tables.h"
#include "smd/sweep/pkeys.h"
#include "tests/support/managed_world.h"
#include "tests/support/partition_config.h"
#include "tests/support/sim_lab.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Managed;

/// two_leaves() with smd on h0.
class FurtherPKeys : public testing::Test {
 protected:
  void start(config::SubnetConfig config) {
    config.sweep.interval = 1s;
    smd_.emplace(world_, sim::Place{"h0"}, config, sm::ManagerOptions{}, nullptr);
    group_.emplace(world_.io().get_executor());
    group_->spawn((*smd_)->run());
    world_.run_for(3s);
  }
  void end() {
    if (group_) world_.run(group_->stop());
    group_.reset();
    smd_.reset();
  }
  void reload(config::SubnetConfig config) {
    config.sweep.interval = 1s;
    (*smd_)->requests().reload(std::move(config));
    world_.run_for(3s);
  }
  ~FurtherPKeys() override { end(); }
  sim::Faults faults() { return world_.fabric().faults(); }
  /// What h2 has at this index.
  PKey key(unsigned index) {
    const auto& state = world_.fabric().state();
    return sim::p_key(state, state.index(state.nodes[*sim::find_node(state, "h2")], 1), index);
  }
  /// What smd knows of it.
  PKey known_key(std::size_t index) {
    for (const auto& node : smd_->last().subnet->nodes) {
      const auto& held = node->ports[1].held<wire::PKeyTable>();
      if (node->description == "h2" && held) return sm::keys_of(*held).at(index);
    }
    return {};
  }

  sim::World world_{test::two_leaves()};
  std::optional<Managed> smd_;
  std::optional<mad::TaskGroup> group_;
};

TEST_F(FurtherPKeys, OfAMemberThatWasRemovedWhileItsLinkWasDownGo) {
  std::vector<config::ConfiguredPartition> many;
  for (unsigned i = 0; i < 33; ++i)
    many.push_back(test::partition(fmt::format("p{}", i), static_cast<std::uint16_t>(0x100U + i), {"h2"}));
  auto config = test::with_partitions(many);
  config.partitions.enforcement = config::Enforcement::off;
  start(config);
  config.partition.erase(config.partition.begin(), config.partition.end() - 1);
  reload(config);
  ASSERT_EQ(key(1), PKey{}) << "the first block is as after a reset";
  ASSERT_EQ(key(33), PKey{0x8120});

  faults().link_down({"h2", PortNum{1}});
  world_.run_for(3s);
  config.partition[0].full = test::port_terms({"h1"});
  reload(config);
  faults().link_up({"h2", PortNum{1}});
  world_.run_for(10s);

  EXPECT_EQ(key(33), PKey{});
  EXPECT_EQ(smd_->last().summary.state, sm::SweepState::up);
}

TEST_F(FurtherPKeys, OfAnotherSmAreFoundByTheAuditAndAtTheStart) {
  start({});
  ASSERT_EQ(known_key(33), PKey{});
  ASSERT_TRUE(faults().set_p_key({"h2", PortNum{1}}, 33, PKey{0x8055}));
  world_.run_for(8s);  // one unread block of three a light sweep
  EXPECT_EQ(known_key(33), PKey{0x8055}) << "by the audit";

  end();
  start({});
  EXPECT_EQ(known_key(33), PKey{0x8055}) << "the port is in service";
}

}  // namespace
}  // namespace smd
