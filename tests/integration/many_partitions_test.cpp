// SPDX-License-Identifier: Apache-2.0
// Many partitions: how much is written, at first and for each change. SMD_PARTITIONS="ft3:24 100 100" takes
// another fabric, number of partitions and number of members.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <set>
#include <sstream>

#include "mad/sim/state/tables.h"
#include "smd/policy/edits.h"
#include "tests/support/managed_world.h"
#include "tests/support/partition_config.h"

namespace smd {
namespace {

using test::Managed;

class ManyPartitions : public testing::Test {
 protected:
  ManyPartitions() {
    if (const char* given = std::getenv("SMD_PARTITIONS"); given != nullptr)
      std::istringstream(given) >> spec_ >> partitions_ >> members_;
    world_.emplace(test::spec(spec_));
    for (const auto& node : world_->fabric().state().nodes) {
      if (!node.is_switch()) hosts_.push_back(node.name);
    }
    for (std::size_t i = 0; i < partitions_; ++i) {
      auto& one = config_.partition.emplace_back();
      one.name = fmt::format("p{}", i);
      one.pkey = static_cast<std::uint16_t>(0x100 + i);
      for (std::size_t k = 0; k < members_; ++k) one.full.push_back(any_host());
    }
  }
  std::size_t random(std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(chance_);
  }
  config::PortTerm any_host() { return *config::parse_port_term(hosts_[random(hosts_.size())]); }
  std::size_t sets(std::uint16_t attribute) const {
    return static_cast<std::size_t>(std::ranges::count(sets_, attribute, &sim::DoneSet::attribute));
  }
  /// A member comes or goes.
  void change_one() {
    auto& members = config_.partition[random(partitions_)].full;
    const auto host = any_host();
    const auto erased = std::erase(members, host);
    if (erased == 0) members.push_back(host);
  }

  std::string spec_ = "ft3:8";
  std::size_t partitions_ = 20, members_ = 20;
  std::mt19937 chance_{7};
  std::optional<sim::World> world_;
  std::vector<std::string> hosts_;
  config::SubnetConfig config_;
  std::vector<sim::DoneSet> sets_;
};

TEST_F(ManyPartitions, WriteWhatDiffersAndTwoSetsForAChange) {
  world_->fabric().watch_sets([this](const sim::DoneSet& set) { sets_.push_back(set); });
  Managed smd(*world_, config_);
  mad::TaskGroup group(world_->io().get_executor());
  group.spawn(smd->run());
  world_->run_for(std::chrono::seconds(3));
  ASSERT_EQ(smd.last().summary.state, sm::SweepState::up);
  // One block of each host and of the switch port before it, and of port 0 of each switch; the SM's own port
  // and the one before it may be as they are.
  const auto switches = world_->fabric().state().nodes.size() - hosts_.size();
  const auto cold = sets(wire::PKeyTable::kAttribute);
  EXPECT_LE(cold, 2 * hosts_.size() + switches);
  EXPECT_GE(cold, 2 * (hosts_.size() - 1) + switches);

  sets_.clear();
  smd->requests().resweep(sm::Resweep::heavy, "test");
  world_->run_for(std::chrono::seconds(2));
  EXPECT_EQ(sets_.size(), 0U);
  for (int i = 0; i < 100; ++i) {
    sets_.clear();
    change_one();
    smd->requests().reload(config_);
    world_->run_for(std::chrono::milliseconds(300));
    EXPECT_EQ(sets_.size(), 2U) << i;
    EXPECT_EQ(sets(wire::PKeyTable::kAttribute), sets_.size());
  }
  world_->run(group.stop());
}

/// Members that come by the API: the fabric is not read, and what differs is written.
TEST_F(ManyPartitions, ChangesOfTheApiAreTwoSetsAndIndex0IsOne) {
  world_->fabric().watch_sets([this](const sim::DoneSet& set) { sets_.push_back(set); });
  Managed smd(*world_, config_);
  mad::TaskGroup group(world_->io().get_executor());
  group.spawn(smd->run());
  world_->run_for(std::chrono::seconds(3));
  const auto files = policy::sources_of(config_);
  auto policies = std::make_shared<const policy::Policies>();
  auto merged = policy::merged_policy(config_, *policies);
  const auto context = [&] { return policy::EditContext{files, *policies, *merged}; };
  const auto take = [&](const policy::EditResult& edited) {
    ASSERT_TRUE(edited) << edited.error().text;
    sets_.clear();
    policies = edited->policies;
    if (edited->merged) merged = edited->merged;
    smd->requests().set_policies(policies, merged);
    world_->run_for(std::chrono::milliseconds(300));
    EXPECT_EQ(smd.last().decided.partitions->policy, merged) << "thousands of members are merged once";
  };
  const auto sweeps = smd.lines().count("sweep=");
  take(policy::put_partition(context(), {.name = "api", .pkey = 0x77}));
  EXPECT_EQ(sets_.size(), 0U);
  for (int i = 0; i < 30; ++i) {
    config::MemberRule rule{.membership = config::Membership::full};
    rule.ports.terms = {any_host()};
    const bool there = std::ranges::any_of(policies->api.at("api")->members,
                                           [&](const auto& member) { return member.ports == rule.ports; });
    take(there ? policy::remove_members(context(), "api", rule.ports.terms)
               : policy::add_members(context(), "api", {rule}));
    EXPECT_EQ(sets_.size(), 2U) << i;
    EXPECT_EQ(sets(wire::PKeyTable::kAttribute), sets_.size());
  }
  const auto member = policies->api.at("api")->members[0];
  auto told = member;
  told.index0 = true;
  take(policy::add_members(context(), "api", {told}));
  EXPECT_EQ(sets_.size(), 2U) << "the switch port's table has the order of the end port's";
  take(policy::add_members(context(), "api", {member}));
  EXPECT_EQ(sets_.size(), 0U) << "what is at index 0 stays there";
  sets_.clear();
  Guid node, port;
  for (const auto& one : smd.last().subnet->nodes) {
    if (one->description != member.ports.terms.front().name) continue;
    node = one->guid();
    port = one->ports[1].guid;
  }
  ASSERT_NE(port, Guid{});
  smd->requests().reindex({port});
  world_->run_for(std::chrono::milliseconds(300));
  EXPECT_EQ(sets_.size(), 2U);
  EXPECT_EQ(smd.last().subnet->find(node)->ports[1].held<wire::PKeyTable>()->row[0].keys[0].partition(),
            0x7fff);
  EXPECT_EQ(smd.lines().count("sweep="), sweeps);
  world_->run(group.stop());
}

}  // namespace
}  // namespace smd
