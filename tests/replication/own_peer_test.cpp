// SPDX-License-Identifier: Apache-2.0
// One file on all machines: [ha] peers names this SM, too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/support/replica_site.h"

namespace smd {
namespace {

using std::chrono::seconds;
using testing::IsEmpty;
using testing::SizeIs;

TEST(OwnPeer, IsNoStandby) {
  const std::vector<std::string> all{"h00000", "h00003"};
  test::ReplicaSite site{"ft2:4"};
  config::SubnetConfig config;
  config.sm.priority = 5;
  auto& master = site.start("h00000", config, all);
  site.world.run_for(seconds(10));
  ASSERT_TRUE(master.is_master());
  EXPECT_THAT(master.store().view()->standbys, IsEmpty());
  EXPECT_THAT(*master.store().copies(), IsEmpty());
  EXPECT_EQ(master.lines.count("ha.peer_wrong"), 1U) << testing::PrintToString(master.lines.all);

  config.sm.priority = 3;
  auto& standby = site.start("h00003", config, all);
  site.world.run_for(seconds(10));
  EXPECT_EQ(standby.store().view()->role, replica::ReplicaView::Role::current);
  EXPECT_THAT(master.store().view()->standbys, SizeIs(1));
}

}  // namespace
}  // namespace smd
