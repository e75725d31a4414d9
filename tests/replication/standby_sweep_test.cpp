// SPDX-License-Identifier: Apache-2.0
// A standby reads the fabric while it copies.
#include <gtest/gtest.h>

#include <chrono>
#include <expected>
#include <optional>
#include <string>
#include <utility>

#include "tests/support/replica_site.h"

namespace smd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

config::SubnetConfig with_priority(std::uint8_t priority) {
  config::SubnetConfig config;
  config.sm.priority = priority;
  return config;
}

/// The sweep waits for a silent host, for longer than the master is silent in the stream.
TEST(StandbySweep, TheCopyAndTheMasterAreKeptMeanwhile) {
  constexpr auto *kMaster = "h00000", *kStandby = "h00003";
  test::ReplicaSite site("ft2:4");
  site.start(kMaster, with_priority(5), {kStandby});
  site.start(kStandby, with_priority(3), {kMaster});
  site.world.run_for(seconds(3));
  ASSERT_TRUE(site[kMaster].is_master());
  auto& standby = site[kStandby];
  ASSERT_EQ(standby.store().view()->role, replica::ReplicaView::Role::current);
  ASSERT_TRUE(site.world.fabric().faults().silent("h00007"));

  unsigned sweeping = 0, lost = 0;
  std::optional<std::expected<replica::CallAnswer, std::string>> answer;
  for (unsigned round = 0; round < 4; ++round) {
    standby.manager().requests().resweep(sm::Resweep::heavy, "test");
    for (unsigned i = 0; i < 1100; ++i) {
      site.world.run_for(milliseconds(1));
      const auto sms = standby.manager().sms();
      ASSERT_EQ(sms->state.sm, wire::SmState::standby);
      if (!sms->state.polled && ++sweeping == 300) {
        standby.store().call({.caller = "client", .role = "operator", .method = "POST", .body = "new"},
                             [&](auto made) { answer = std::move(made); });
      }
      const auto role = standby.store().view()->role;
      if (role == replica::ReplicaView::Role::none || role == replica::ReplicaView::Role::lost) ++lost;
    }
  }

  EXPECT_GE(sweeping, 300U);
  EXPECT_EQ(lost, 0U);
  EXPECT_EQ(standby.lines.count("ha.replica_lost"), 0U) << testing::PrintToString(standby.lines.all);
  EXPECT_EQ(site[kMaster].lines.count("ha.standby_lost"), 0U)
      << testing::PrintToString(site[kMaster].lines.all);
  ASSERT_TRUE(answer && *answer) << (answer ? answer->error() : "no answer");
}

}  // namespace
}  // namespace smd
