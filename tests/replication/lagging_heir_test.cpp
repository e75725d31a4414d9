// SPDX-License-Identifier: Apache-2.0
// A standby that outranks its master, and has not copied all that the master has committed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "tests/support/replica_data.h"
#include "tests/support/replica_site.h"

namespace smd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Contains;
using testing::HasSubstr;

constexpr auto *kMaster = "h00000", *kHeir = "h00003", *kThird = "h00001";

class LaggingHeir : public testing::Test {
 protected:
  void start(const char* host, std::uint8_t priority) {
    config::SubnetConfig config;
    config.sm.priority = priority;
    std::vector<std::string> peers;
    for (const auto* other : {kMaster, kHeir, kThird}) {
      if (other != host) peers.emplace_back(other);
    }
    site_.start(host, config, std::move(peers));
  }
  void SetUp() override {
    start(kMaster, 5);
    start(kHeir, 4);
    start(kThird, 3);
    site_.world.run_for(seconds(4));
    const auto view = site_[kMaster].store().view();
    ASSERT_TRUE(std::ranges::count(view->standbys, site_.port_of(kHeir), &replica::StandbyView::port));
    ASSERT_EQ(site_[kHeir].store().view()->role, replica::ReplicaView::Role::current);
  }
  /// The master commits what no standby gets.
  void commit_unseen() {
    site_.network.cut = true;
    site_.network.break_all();
    site_[kMaster].register_now([&](sa::Registry& registry) {
      test::register_all(registry, site_[kMaster].last().subnet->nodes.front()->guid(), 1, Lid{0xC001});
    });
    site_.world.run_for(milliseconds(200));
  }
  const std::vector<std::string>& story() { return site_[kMaster].managed().lines().all; }

  test::ReplicaSite site_{"ft2:4"};
};

TEST_F(LaggingHeir, GetsTheFabricWhenItHasCopiedAll) {
  commit_unseen();
  site_[kHeir].manager().set_priority(9);
  site_.world.run_for(seconds(5));
  EXPECT_TRUE(site_[kMaster].is_master()) << testing::PrintToString(story());
  EXPECT_THAT(story(), Contains(HasSubstr("sm.handover_waits")));

  site_.network.cut = false;
  site_.world.run_for(seconds(4));
  EXPECT_TRUE(site_[kHeir].is_master()) << testing::PrintToString(story());
  EXPECT_EQ(site_[kHeir].registry().services().size(), 1U);
  EXPECT_THAT(story(), testing::Not(Contains(HasSubstr("sm.handover_behind"))));
}

TEST_F(LaggingHeir, IsNotWaitedForLongerThanTenSeconds) {
  commit_unseen();
  site_[kHeir].manager().set_priority(9);
  site_.world.run_for(seconds(12));

  EXPECT_TRUE(site_[kHeir].is_master()) << testing::PrintToString(story());
  EXPECT_THAT(story(), Contains(HasSubstr("sm.handover_behind")));
}

TEST_F(LaggingHeir, OneThatIsCurrentGetsItWithinTheTimeOfAMessage) {
  site_[kHeir].manager().set_priority(9);
  site_.world.run_for(milliseconds(100));

  EXPECT_FALSE(site_[kMaster].is_master()) << testing::PrintToString(story());
  EXPECT_THAT(story(), testing::Not(Contains(HasSubstr("sm.handover_waits"))));
}

/// An SM that ends leaves the fabric to a standby that has all, though another one ranks higher.
TEST_F(LaggingHeir, IsPassedOverByAnSmThatEnds) {
  site_.network.takes_nothing = kHeir;
  site_.network.break_all();
  site_[kMaster].register_now([&](sa::Registry& registry) {
    test::register_all(registry, site_[kMaster].last().subnet->nodes.front()->guid(), 1, Lid{0xC001});
  });
  site_.world.run_for(seconds(2));

  const auto to = site_[kMaster].manager().hand_over(std::nullopt);
  ASSERT_TRUE(to) << to.error();
  EXPECT_EQ(to->info.guid, site_.port_of(kThird)) << testing::PrintToString(story());
}

}  // namespace
}  // namespace smd
