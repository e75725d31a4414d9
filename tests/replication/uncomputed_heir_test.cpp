// SPDX-License-Identifier: Apache-2.0
// A standby whose master goes while it computes the tables of what it has just read.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

#include "tests/support/replica_pair.h"

namespace smd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class UncomputedHeir : public test::ReplicaPair {
 protected:
  std::uint64_t gets() {
    return site_[kB].manager().counters().total(&mad::AttributeCounters::sent, wire::Method::get);
  }
  /// Until the standby reads the nodes at a cable that is lost, after which it computes tables.
  void lose_cable() {
    ASSERT_TRUE(site_.world.fabric().faults().link_down({"leaf000", PortNum{3}}));
    std::uint64_t at_once = 0;
    for (int step = 0; step < 200'000 && at_once < 4; ++step) {
      const auto before = gets();
      site_.world.run_for(std::chrono::microseconds(20));
      at_once = gets() - before;
    }
    ASSERT_GE(at_once, 4U) << story();
  }
};

/// To read all of the fabric again would take longer.
TEST_F(UncomputedHeir, ComputesBeforeAnythingElse) {
  start_pair();
  site_.world.run_for(seconds(2));
  auto& compute = site_[kB].managed().compute();
  lose_cable();
  const auto works = compute.works;
  compute.takes = seconds(30);
  site_.world.run_for(milliseconds(100));
  ASSERT_EQ(compute.works, works + 1) << story();

  site_.kill(kA);
  site_.world.run_for(milliseconds(100));
  compute.takes = {};
  for (int step = 0; step < 300 && !site_[kB].is_master(); ++step) site_.world.run_for(milliseconds(10));
  ASSERT_TRUE(site_[kB].is_master()) << story();
  site_.world.run_for(seconds(5));

  EXPECT_EQ(site_[kB].managed().lines().count("ha.clients_told"), 1U) << story();
}

}  // namespace
}  // namespace smd
