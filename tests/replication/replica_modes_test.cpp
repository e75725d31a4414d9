// SPDX-License-Identifier: Apache-2.0
// What clients may be told, by the mode of the copy.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>

#include "tests/support/replica_data.h"
#include "tests/support/replica_pair.h"

namespace smd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ReplicaModes : public test::ReplicaPair {};

TEST_F(ReplicaModes, SyncWaitsForTheStandbysDiskAndAtMostFiftyMilliseconds) {
  start_pair(replica::Mode::sync);
  auto& master = site_[kA];
  auto join = [&](std::size_t i) {
    const auto began = site_.world.now();
    master.register_now(
        [&](sa::Registry& registry) { test::register_all(registry, test::adapter_port(master.last(), i)); });
    return site_.world.now() - began;
  };
  site_.network.delay = milliseconds(10);
  EXPECT_EQ(join(0), milliseconds(20));  // there and back
  EXPECT_EQ(site_.disks[kB].registry()->services().size(), 1U);

  site_.network.delay = seconds(1);
  EXPECT_EQ(join(1), milliseconds(50));
  EXPECT_EQ(master.lines.count("ha.sync_lost"), 1U) << story();
  EXPECT_TRUE(master.store().may_answer());
  EXPECT_EQ(join(2), milliseconds(0));  // asynchronous until the standby has all again

  site_.network.delay = milliseconds(1);
  site_.world.run_for(seconds(5));
  EXPECT_EQ(master.lines.count("ha.sync_restored"), 1U) << story();
  EXPECT_EQ(join(3), milliseconds(2));
}

TEST_F(ReplicaModes, SyncStrictAnswersNothingThatNoStandbyHas) {
  start_pair(replica::Mode::sync_strict);
  auto& master = site_[kA];
  site_.kill(kB);
  site_.world.run_for(seconds(1));

  master.register_now(
      [&](sa::Registry& registry) { test::register_all(registry, test::adapter_port(master.last(), 0)); });

  EXPECT_FALSE(master.store().may_answer());
  EXPECT_EQ(master.lines.count("ha.sync_lost"), 1U) << story();
}

/// The SA may have begun the answer before the HANDOVER: the next master does not have what it says.
TEST_F(ReplicaModes, WhatIsRegisteredAfterAHandoverIsNotAnswered) {
  start_pair();
  auto& old = site_[kA];
  const auto join = [&](std::size_t i) {
    old.register_now(
        [&](sa::Registry& registry) { test::register_all(registry, test::adapter_port(old.last(), i)); });
  };
  join(0);
  EXPECT_TRUE(old.store().may_answer());

  ASSERT_TRUE(old.manager().hand_over(std::nullopt));
  site_.world.run_for(milliseconds(2));
  ASSERT_FALSE(old.is_master());
  join(1);
  EXPECT_FALSE(old.store().may_answer());

  site_.world.run_for(seconds(5));
  ASSERT_TRUE(site_[kB].is_master()) << story();
  EXPECT_GE(site_[kB].registry().services().size(), 1U);  // what was not answered may have come, too
}

}  // namespace
}  // namespace smd
