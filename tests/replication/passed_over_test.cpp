// SPDX-License-Identifier: Apache-2.0
// A third SM takes over from a master that it has not copied.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/support/replica_data.h"
#include "tests/support/replica_site.h"

namespace smd {
namespace {

using std::chrono::seconds;

constexpr auto *kOldMaster = "h00000", *kPassedOver = "h00003", *kTaker = "h00001";

/// Its copy is of the master before that one.
TEST(PassedOver, ACopyOfTheMasterBeforeTheLastIsNotCurrent) {
  test::ReplicaSite site{"ft2:4"};
  site.start(kOldMaster, test::with_priority(5), {kPassedOver, kTaker});
  site.start(kPassedOver, test::with_priority(4), {kOldMaster, kTaker});
  site.start(kTaker, test::with_priority(3), {kOldMaster, kPassedOver});
  site.world.run_for(seconds(4));
  ASSERT_EQ(site[kTaker].store().view()->role, replica::ReplicaView::Role::current);

  site.network.takes_nothing = kPassedOver;  // the third one cannot ask for its state
  ASSERT_TRUE(site[kOldMaster].manager().hand_over(std::nullopt));
  site.world.run_for(seconds(1));
  ASSERT_TRUE(site[kPassedOver].is_master());
  EXPECT_NE(site[kTaker].store().view()->role, replica::ReplicaView::Role::current);
  site.kill(kPassedOver);
  site.world.run_for(seconds(5));

  ASSERT_TRUE(site[kTaker].is_master()) << testing::PrintToString(site[kTaker].managed().lines().all);
  EXPECT_THAT(site[kTaker].lines.all, testing::Contains(testing::AllOf(testing::HasSubstr("ha.took_over"),
                                                                       testing::HasSubstr("current=false"))));
}

}  // namespace
}  // namespace smd
