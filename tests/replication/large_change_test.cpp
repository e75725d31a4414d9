// SPDX-License-Identifier: Apache-2.0
// A standby takes changes of many rows, and its thread goes on meanwhile.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "tests/support/replica_data.h"
#include "tests/support/replica_site.h"

namespace smd {
namespace {

using replica::ReplicaView;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto *kFirstSm = "h00000", *kSecondSm = "h00003";

config::SubnetConfig of_priority(std::uint8_t priority) {
  config::SubnetConfig config;
  config.sm.priority = priority;
  return config;
}

class LargeChange : public testing::Test {
 protected:
  test::ReplicaSite site_{"ft2:4"};
  void start_pair() {
    site_.start(kFirstSm, of_priority(5), {kSecondSm});
    site_.start(kSecondSm, of_priority(3), {kFirstSm});
    site_.world.run_for(seconds(3));
    ASSERT_TRUE(site_[kFirstSm].is_master());
    ASSERT_EQ(site_[kSecondSm].store().view()->role, ReplicaView::Role::current);
  }
  /// The master has so many classes of traffic from now on.
  void commit_classes(std::size_t count) {
    auto policies = std::make_shared<policy::Policies>(*site_[kFirstSm].store().policies());
    policies->class_sls.clear();
    for (std::size_t i = 0; i < count; ++i)
      policies->class_sls[fmt::format("a class of traffic with a long name {:05}", i)] = Sl{1};
    site_.world.run(commit(&site_[kFirstSm].store(), std::move(policies)));
  }
  void expect_equal() {
    const auto a = test::on_disk(site_.disks[kFirstSm]), b = test::on_disk(site_.disks[kSecondSm]);
    EXPECT_EQ(a, b) << testing::PrintToString(replica::differing(a, b))
                    << testing::PrintToString(site_[kSecondSm].lines.all);
  }

 private:
  static asio::awaitable<void> commit(store::Store* store, policy::PoliciesPtr policies) {
    co_await store->commit_policies(std::move(policies));
  }
};

/// It is read, put into the copy and made the state elsewhere. So is its end.
TEST_F(LargeChange, DoesNotKeepTheThreadOfTheStandbyBusy) {
  start_pair();
  auto& standby = site_[kSecondSm];
  standby.compute().takes = milliseconds(300);
  for (const std::size_t count : {10'000U, 0U}) {
    const auto works = standby.compute().works;
    unsigned behind = 0;
    commit_classes(count);
    for (unsigned i = 0; i < 2500; ++i) {
      site_.world.run_for(milliseconds(1));
      if (standby.store().view()->role == ReplicaView::Role::behind) ++behind;
    }

    EXPECT_GT(behind, 0U) << "views are made while it is worked on";
    EXPECT_GE(standby.compute().works, works + 3) << count;
    const auto done = standby.compute().works;
    site_.world.run_for(seconds(6));
    EXPECT_GT(standby.compute().works, done) << "memory is given back";
    EXPECT_EQ(standby.store().policies()->class_sls.size(), count);
    EXPECT_EQ(standby.store().view()->role, ReplicaView::Role::current);
    expect_equal();
  }
  EXPECT_EQ(standby.lines.count("ha.replica_lost"), 0U);
}

/// What was worked on then is not the copy of the next master's state.
TEST_F(LargeChange, AMastershipMeanwhileBeginsAnew) {
  start_pair();
  auto& compute = site_[kSecondSm].compute();
  const auto works = compute.works;
  compute.takes = milliseconds(10);
  commit_classes(10'000);
  for (int i = 0; i < 1000 && compute.works != works + 2; ++i) {
    if (compute.works == works + 1) compute.takes = seconds(25);  // after the frame is read
    site_.world.run_for(milliseconds(1));
  }
  ASSERT_EQ(compute.works, works + 2);
  compute.takes = {};

  site_.kill(kFirstSm);
  site_.world.run_for(seconds(5));
  ASSERT_TRUE(site_[kSecondSm].is_master());
  site_.start(kFirstSm, of_priority(5), {kSecondSm});
  site_.world.run_for(seconds(8));
  ASSERT_TRUE(site_[kFirstSm].is_master());
  ASSERT_FALSE(site_[kSecondSm].is_master());
  site_.world.run_for(seconds(25));

  EXPECT_EQ(site_[kSecondSm].store().view()->role, ReplicaView::Role::current)
      << testing::PrintToString(site_[kSecondSm].lines.all);
  expect_equal();
}

}  // namespace
}  // namespace smd
