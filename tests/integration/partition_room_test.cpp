// SPDX-License-Identifier: Apache-2.0
// What becomes of keys that do not fit, and the state of members.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mad/sim/state/tables.h"
#include "smd/api/json_in.h"
#include "smd/api/router.h"
#include "smd/cli/ask_text.h"
#include "smd/policy/policies.h"
#include "tests/support/api_backend.h"
#include "tests/support/managed_world.h"
#include "tests/support/partition_config.h"
#include "tests/support/sim_lab.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Managed;
using test::partition;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

/// two_leaves() with smd on h0; h1 is on leaf1, whose ports have room for 32 keys.
class PartitionRoom : public testing::Test {
 protected:
  void start(config::SubnetConfig config) {
    config.sweep.interval = 1s;
    smd_.emplace(world_, sim::Place{"h0"}, config, sm::ManagerOptions{});
    group_.emplace(world_.io().get_executor());
    group_->spawn((*smd_)->run());
    world_.run_for(3s);
  }
  void reload(config::SubnetConfig config) {
    config.sweep.interval = 1s;
    (*smd_)->requests().reload(std::move(config));
    world_.run_for(3s);
  }
  void TearDown() override {
    if (group_) world_.run(group_->stop());
  }
  const sim::Port& port(std::string_view node) {
    const auto& state = world_.fabric().state();
    return state.ports[index(node)];
  }
  /// The keys that port 1 holds, without free entries.
  std::vector<PKey> keys(std::string_view node) {
    const auto& state = world_.fabric().state();
    std::vector<PKey> found;
    for (unsigned i = 0; i < sim::pkey_capacity(state, index(node)); ++i) {
      if (const auto key = sim::p_key(state, index(node), i); key != PKey{}) found.push_back(key);
    }
    return found;
  }
  /// Of the only member that the partition has.
  std::string state_of_member(const std::string& name) {
    test::FakeBackend backend;
    backend.add({.name = "a", .port = "p", .snapshot = std::make_shared<sm::Snapshot>(smd_->last())});
    const auto answer =
        api::answer({.method = "GET", .target = "/v1/subnets/a/partitions/" + name, .body = {}}, backend);
    return std::string(api::parse_json(answer.body)->at("members").at(0).at("state").as_string());
  }
  /// `count` partitions p0, p1, ... of h1.
  static std::vector<config::ConfiguredPartition> many(unsigned count) {
    std::vector<config::ConfiguredPartition> all;
    for (unsigned i = 0; i < count; ++i)
      all.push_back(partition(fmt::format("p{}", i), static_cast<std::uint16_t>(0x100 + i), {"h1"}));
    return all;
  }

  sim::World world_{test::two_leaves()};
  std::optional<Managed> smd_;
  std::optional<mad::TaskGroup> group_;

 private:
  sim::PortIndex index(std::string_view node) {
    const auto& state = world_.fabric().state();
    return state.index(state.nodes[*sim::find_node(state, node)], 1);
  }
};

/// It cannot go back to Armed.
TEST_F(PartitionRoom, WhereEnforcementIsRequiredAnActiveLinkPassesWhatFits) {
  auto config = test::with_partitions({partition("blue", 0x12, {"h1"})});
  config.partitions.enforcement_required = true;
  start(config);
  ASSERT_TRUE(port("leaf1").info.partition_enforce_in);
  for (auto& one : many(40)) config.partition.push_back(std::move(one));
  reload(config);

  EXPECT_EQ(port("h1").info.port_state, PortState::active);
  EXPECT_EQ(keys("h1").size(), 42U);
  EXPECT_TRUE(port("leaf1").info.partition_enforce_in);
  EXPECT_TRUE(port("leaf1").info.partition_enforce_out);
  EXPECT_EQ(keys("leaf1").size(), 32U);
  EXPECT_THAT(keys("leaf1"), AllOf(Contains(PKey{0x7fff}), Contains(PKey{0x8012})));
  EXPECT_EQ(state_of_member("blue"), "programmed");
  EXPECT_EQ(state_of_member("p39"), "no_room");
  EXPECT_EQ(smd_->last().summary.state, sm::SweepState::reduced);
  EXPECT_THAT(smd_->last().summary.why, HasSubstr("1 port of switches cannot check all P_Keys"));

  config.partition.resize(11);
  reload(config);
  EXPECT_EQ(keys("leaf1").size(), 12U);
  EXPECT_EQ(smd_->last().summary.state, sm::SweepState::up) << smd_->last().summary.why;
}

/// A table of 128 entries has room for one of the two.
TEST_F(PartitionRoom, AMemberWithBothKeysIsProgrammedOnceItHasBoth) {
  auto config = test::with_partitions(many(126));
  config.partition.push_back(partition("both", 0x12, {}));
  config.partition.back().both = test::port_terms({"h1"});
  config.partitions.allow_both_pkeys = true;
  start(config);

  EXPECT_EQ(keys("h1").size(), 128U);
  EXPECT_EQ(state_of_member("both"), "no_room");
  config.partition.erase(config.partition.begin());
  reload(config);
  EXPECT_EQ(state_of_member("both"), "programmed");
}

/// What a partition names is known before any sweep.
TEST(PartitionMembers, ArePendingUntilTheFirstSweepHasEnded) {
  auto policy_state = std::make_shared<api::PolicyState>();
  policy_state->config = std::make_shared<const config::SubnetConfig>(
      test::with_partitions({partition("blue", 0x12, {"h1"}, {"h2*"})}));
  policy_state->policies = std::make_shared<const policy::Policies>();
  policy_state->merged = policy::merged_policy(*policy_state->config, *policy_state->policies);
  test::FakeBackend backend;
  backend.add({.name = "early", .port = "p", .policy_state = policy_state});

  const auto answer =
      api::answer({.method = "GET", .target = "/v1/subnets/early/partitions/blue", .body = {}}, backend);
  const auto one = *api::parse_json(answer.body);
  EXPECT_EQ(one.at("in_force"), false);
  EXPECT_EQ(one.at("ready"), "0 of 2");
  EXPECT_EQ(one.at("members").as_array().size(), 0U);
  ASSERT_EQ(one.at("pending").as_array().size(), 2U);
  EXPECT_EQ(one.at("pending").at(0).at("member"), "h2*");
  EXPECT_EQ(one.at("pending").at(1).at("membership"), "full");
  EXPECT_THAT(cli::members_by_state(one), HasSubstr("; 2 pending"));
}

}  // namespace
}  // namespace smd
