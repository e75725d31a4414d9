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

constexpr auto *kFirst = "h00000", *kSecond = "h00003", *kThird = "h00001";

config::SubnetConfig with_priority(std::uint8_t priority) {
  config::SubnetConfig config;
  config.sm.priority = priority;
  return config;
}

/// Its copy is of the master before that one.
TEST(PassedOver, ACopyOfTheMasterBeforeTheLastIsNotCurrent) {
  test::ReplicaSite site{"ft2:4"};
  site.start(kFirst, with_priority(5), {kSecond, kThird});
  site.start(kSecond, with_priority(4), {kFirst, kThird});
  site.start(kThird, with_priority(3), {kFirst, kSecond});
  site.world.run_for(seconds(4));
  ASSERT_EQ(site[kThird].store().view()->role, replica::ReplicaView::Role::current);

  site.network.takes_nothing = kSecond;  // the third one cannot ask for its state
  ASSERT_TRUE(site[kFirst].manager().hand_over(std::nullopt));
  site.world.run_for(seconds(1));
  ASSERT_TRUE(site[kSecond].is_master());
  EXPECT_NE(site[kThird].store().view()->role, replica::ReplicaView::Role::current);
  site.kill(kSecond);
  site.world.run_for(seconds(5));

  ASSERT_TRUE(site[kThird].is_master()) << testing::PrintToString(site[kThird].managed().lines().all);
  EXPECT_THAT(site[kThird].lines.all, testing::Contains(testing::AllOf(testing::HasSubstr("ha.took_over"),
                                                                       testing::HasSubstr("current=false"))));
}

}  // namespace
}  // namespace smd
