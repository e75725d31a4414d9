// SPDX-License-Identifier: Apache-2.0
// A pair, and a third SM that ranks between the two and copies nothing: an opensm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "smd/ha/sm_view.h"
#include "tests/support/replica_data.h"
#include "tests/support/replica_site.h"

namespace smd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr auto *kGiver = "h00000", *kCopier = "h00003", *kStranger = "h00001";

class UncopiedHeir : public testing::Test {
 protected:
  void start(const char* host, std::uint8_t priority, std::vector<std::string> peers) {
    config::SubnetConfig config;
    config.sm.priority = priority;
    // Else a new master of the pair hands over to the third by its rank.
    if (!peers.empty()) config.sm.master_priority = 12;
    site_.start(host, config, std::move(peers));
  }
  void SetUp() override {
    start(kGiver, 9, {kCopier});
    start(kCopier, 5, {kGiver});
    start(kStranger, 7, {});
    site_.world.run_for(seconds(15));  // a light sweep
    ASSERT_TRUE(site_[kGiver].is_master()) << story();
    ASSERT_EQ(site_[kCopier].store().view()->role, replica::ReplicaView::Role::current);
    ASSERT_EQ(view()->others.size(), 2U) << story();
  }
  std::shared_ptr<const sm::SmView> view() { return site_[kGiver].manager().sms(); }
  Guid port_of(const char* host) const { return site_.port_of(host); }
  std::string story() { return testing::PrintToString(lines()); }
  const std::vector<std::string>& lines() { return site_[kGiver].managed().lines().all; }

  test::ReplicaSite site_{"ft2:4"};
};

TEST_F(UncopiedHeir, AnOperatorSeesWhoGetsTheFabric) {
  const auto now = view();
  const auto given = sm::successor(*now, std::nullopt);
  ASSERT_TRUE(given) << given.error();
  EXPECT_EQ(given->info.guid, port_of(kCopier));
  const auto failing = sm::next_master(*now);
  ASSERT_TRUE(failing);
  EXPECT_EQ(failing->info.guid, port_of(kStranger)) << "ranks decide when it fails";
  EXPECT_THAT(sm::outlook(*now, 0), HasSubstr("has less of a copy than"));
  for (const auto& other : now->others) {
    EXPECT_THAT(sm::outlook(*now, other),
                HasSubstr(other.sm.info.guid == port_of(kCopier) ? "gets the fabric when this SM ends"
                                                                 : "takes over when this SM fails"));
  }
}

TEST_F(UncopiedHeir, IsPassedOverByAnSmThatEnds) {
  bool left = false;
  site_[kGiver].manager().leave([&] { left = true; });
  site_.world.run_for(seconds(2));
  EXPECT_TRUE(left);
  EXPECT_TRUE(site_[kCopier].is_master()) << story();
  EXPECT_THAT(lines(), Not(Contains(HasSubstr("sm.handover_uncopied"))));
}

TEST_F(UncopiedHeir, GetsItWithAWarningWhereNobodyCopies) {
  site_.kill(kCopier);
  site_.world.run_for(milliseconds(300));
  const auto to = site_[kGiver].manager().hand_over(std::nullopt);
  ASSERT_TRUE(to) << to.error();
  EXPECT_EQ(to->info.guid, port_of(kStranger)) << story();
  EXPECT_THAT(lines(), Contains(HasSubstr("sm.handover_uncopied")));
}

TEST_F(UncopiedHeir, IsTakenWhereItIsNamed) {
  const auto to = site_[kGiver].manager().hand_over(port_of(kStranger));
  ASSERT_TRUE(to) << to.error();
  EXPECT_EQ(to->info.guid, port_of(kStranger));
  EXPECT_THAT(lines(), Contains(HasSubstr("sm.handover_uncopied")));
}

asio::awaitable<void> commit_policies_to(store::Store* store, policy::PoliciesPtr policies) {
  co_await store->commit_policies(std::move(policies));
}

/// As with an opensm that was started first: a standby keeps tokens of its own again.
TEST_F(UncopiedHeir, LeavesAStandbyNoCopyWhereItStaysMaster) {
  auto& store = site_[kCopier].store();
  ASSERT_TRUE(site_[kGiver].manager().hand_over(port_of(kStranger)));
  site_.world.run_for(seconds(5));
  ASSERT_TRUE(site_[kStranger].is_master()) << story();
  EXPECT_TRUE(store.following().follows) << "one of the peers may be master at once";
  site_.world.run_for(seconds(15));
  EXPECT_FALSE(store.following().follows);
  EXPECT_FALSE(store.following().knows_clients);
  EXPECT_FALSE(replica::is_copy(store.view().get()));
  auto policies = std::make_shared<policy::Policies>(*store.policies());
  policies->class_sls = {{"storage", Sl{3}}};
  site_.world.run(commit_policies_to(&store, policies));
  EXPECT_EQ(site_.disks[kCopier].policies()->class_sls, policies->class_sls);

  ASSERT_TRUE(site_[kStranger].manager().hand_over(port_of(kGiver)));
  site_.world.run_for(seconds(10));
  ASSERT_TRUE(site_[kGiver].is_master()) << story();
  EXPECT_EQ(store.view()->role, replica::ReplicaView::Role::current);
  EXPECT_TRUE(store.following().follows);
  EXPECT_EQ(test::on_disk(site_.disks[kGiver]), test::on_disk(site_.disks[kCopier]));
}

}  // namespace
}  // namespace smd
