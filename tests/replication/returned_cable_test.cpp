// SPDX-License-Identifier: Apache-2.0
// The cable of an SM is pulled, another one is master meanwhile, and the cable comes back.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/support/replica_data.h"
#include "tests/support/replica_site.h"

namespace smd {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

/// Of equal ranks as masters the first one outranks the other by its port GUID.
constexpr auto *kReturns = "h00000", *kStays = "h00003";

class ReturnedCable : public testing::Test {
 protected:
  void start(const char* host, const char* other) {
    config::SubnetConfig config;
    config.sm.priority = host == kReturns ? 5 : 3;
    config.sm.master_priority = 12;
    config.ha.quiet = minutes(10);
    config.sweep.interval = interval_;
    site_.start(host, config, {other});
  }
  void SetUp() override {
    start(kReturns, kStays);
    start(kStays, kReturns);
    site_.world.run_for(seconds(3));
    ASSERT_TRUE(site_[kReturns].is_master()) << story();
  }
  void pull_cable(const char* host) {
    site_.world.fabric().faults().link_down({host, PortNum{1}});
    site_.world.run_for(seconds(20));
  }
  void mend_cable(const char* host) {
    site_.world.fabric().faults().link_up({host, PortNum{1}});
    site_.world.run_for(seconds(30));
  }
  std::string story() {
    std::string text;
    for (const auto* host : {kReturns, kStays}) {
      text += std::string("--- ") + host + "\n";
      for (const auto& line : site_[host].lines.all) text += line + "\n";
      for (const auto& line : site_[host].managed().lines().all) text += line + "\n";
    }
    return text;
  }

  test::ReplicaSite site_{"ft2:4"};
  config::Duration interval_ = config::SubnetConfig().sweep.interval;  ///< between light sweeps
};

asio::awaitable<void> commit_to_master(store::Store* store, policy::PoliciesPtr policies) {
  co_await store->commit_policies(std::move(policies));
}

TEST_F(ReturnedCable, BringsNoOlderStateBack) {
  pull_cable(kReturns);
  ASSERT_TRUE(site_[kStays].is_master()) << story();
  auto policies = std::make_shared<policy::Policies>(*site_[kStays].store().policies());
  policies->class_sls = {{"storage", Sl{3}}};
  site_.world.run(commit_to_master(&site_[kStays].store(), policies));
  site_[kStays].register_now([&](sa::Registry& registry) {
    test::register_all(registry, test::adapter_port(site_[kStays].last(), 2), 1, Lid{0xC001});
  });

  mend_cable(kReturns);

  EXPECT_TRUE(site_[kStays].is_master()) << story();
  EXPECT_FALSE(site_[kReturns].is_master()) << story();
  EXPECT_EQ(site_[kStays].managed().lines().count("sm.two_masters"), 0U) << story();
  EXPECT_EQ(site_[kReturns].managed().lines().count("sm.two_masters"), 0U) << story();
  EXPECT_EQ(site_[kReturns].store().view()->role, replica::ReplicaView::Role::current) << story();
  EXPECT_EQ(site_.disks[kReturns].policies()->class_sls, policies->class_sls);
  EXPECT_EQ(test::on_disk(site_.disks[kReturns]), test::on_disk(site_.disks[kStays]));
  EXPECT_EQ(site_[kReturns].manager().sms()->shown.rank.priority, 0U) << "[ha] quiet";
}

/// The other one is gone by then.
TEST_F(ReturnedCable, BringsTheMasterBackWhereThereIsNoOther) {
  pull_cable(kReturns);
  site_.kill(kStays);

  mend_cable(kReturns);

  EXPECT_TRUE(site_[kReturns].is_master());
  EXPECT_EQ(site_[kReturns].last().summary.state, sm::SweepState::up) << site_[kReturns].last().summary.why;
  EXPECT_EQ(site_[kReturns].manager().sms()->shown.state, wire::SmState::master);
}

/// It is master of its own port for that time: the fabric is not split.
TEST_F(ReturnedCable, OfAStandbyIsNoSplit) {
  pull_cable(kStays);

  EXPECT_TRUE(site_[kReturns].is_master()) << story();
  EXPECT_TRUE(site_[kReturns].refused.empty()) << story();

  mend_cable(kStays);
  EXPECT_TRUE(site_[kReturns].is_master()) << story();
  EXPECT_FALSE(site_[kStays].is_master()) << story();
  EXPECT_EQ(site_[kStays].store().view()->role, replica::ReplicaView::Role::current) << story();
  EXPECT_EQ(test::on_disk(site_.disks[kReturns]), test::on_disk(site_.disks[kStays]));
}

/// A later epoch than the master's would be refused by none, and copied by none.
TEST_F(ReturnedCable, OfAStandbyBeginsNoEpoch) {
  const auto epoch = site_.disks[kReturns].replica()->position.epoch;
  pull_cable(kStays);
  ASSERT_TRUE(site_[kStays].is_master()) << "of its own port";
  EXPECT_EQ(site_.disks[kStays].replica()->position.epoch, epoch) << story();
  EXPECT_EQ(site_[kStays].lines.count("ha.took_over"), 0U) << story();

  mend_cable(kStays);

  EXPECT_EQ(site_.disks[kReturns].replica()->position.epoch, epoch) << story();
  EXPECT_EQ(site_[kStays].lines.count("ha.lower_epoch"), 0U) << story();
  EXPECT_EQ(site_[kStays].store().view()->role, replica::ReplicaView::Role::current) << story();
  EXPECT_EQ(test::on_disk(site_.disks[kReturns]), test::on_disk(site_.disks[kStays]));
  EXPECT_EQ(site_[kStays].last().subnet->nodes.size(), site_[kReturns].last().subnet->nodes.size());
}

/// Neither a light sweep of the master nor the network tells it that its port had no link.
class FlappedCable : public ReturnedCable {
 protected:
  FlappedCable() { interval_ = std::chrono::hours(1); }
};

TEST_F(FlappedCable, IsFoundWhenTheNextMasterAsks) {
  site_.world.run_for(seconds(3));
  site_.world.fabric().faults().link_down({kReturns, PortNum{1}});
  site_.world.run_for(seconds(3));
  ASSERT_TRUE(site_[kStays].is_master()) << story();
  ASSERT_TRUE(site_[kReturns].is_master()) << "it has not noticed" << story();
  auto policies = std::make_shared<policy::Policies>(*site_[kStays].store().policies());
  policies->class_sls = {{"storage", Sl{3}}};
  site_.world.run(commit_to_master(&site_[kStays].store(), policies));

  mend_cable(kReturns);

  EXPECT_TRUE(site_[kStays].is_master()) << story();
  EXPECT_FALSE(site_[kReturns].is_master()) << story();
  EXPECT_EQ(site_[kStays].managed().lines().count("sm.two_masters"), 0U) << story();
  EXPECT_EQ(site_.disks[kReturns].policies()->class_sls, policies->class_sls) << story();
  EXPECT_EQ(site_[kReturns].manager().sms()->shown.rank.priority, 0U) << "[ha] quiet";
}

}  // namespace
}  // namespace smd
