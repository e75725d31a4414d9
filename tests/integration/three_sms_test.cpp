// SPDX-License-Identifier: Apache-2.0
// Three SMs of a fabric: which of them has it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/support/sim_lab.h"
#include "tests/support/sm_site.h"

namespace smd {
namespace {

using std::chrono::seconds;
using test::SmSite;
using testing::ElementsAre;
using testing::SizeIs;

TEST(ThreeSms, TheFabricGoesDownTheRanksAndUpAgain) {
  SmSite site("ft2:4");
  site.start("h00000", 2);
  site.start("h00003", 5);
  site.start("h00005", 8);
  site.world.run_for(seconds(5));
  EXPECT_THAT(site.masters(), ElementsAre("h00005")) << site.story();

  site.kill("h00005");
  site.world.run_for(seconds(4));
  EXPECT_THAT(site.masters(), ElementsAre("h00003")) << site.story();

  site.leave("h00003");
  site.world.run_for(seconds(2));
  EXPECT_THAT(site.masters(), ElementsAre("h00000")) << site.story();

  site.start("h00005", 8);
  site.start("h00003", 5);
  site.world.run_for(seconds(5));
  EXPECT_THAT(site.masters(), ElementsAre("h00005")) << site.story();
}

/// Of a standby: it takes nothing that it had to hand over at once, with a second LID of the SM for all
/// ports.
TEST(ThreeSms, ANewcomerThatOutranksAStandbyIsKnownToItBeforeTheMasterFails) {
  SmSite site("ft2:4");
  site.start("h00000", 9);
  site.start("h00003", 5);
  site.start("h00005", 7);
  site.world.run_for(seconds(2));  // less than to the next audit
  ASSERT_THAT(site.masters(), ElementsAre("h00000")) << site.story();
  EXPECT_EQ(site["h00003"]->sms()->others.size(), 2U) << site.story();

  site.kill("h00000");
  site.world.run_for(seconds(5));

  EXPECT_THAT(site.masters(), ElementsAre("h00005")) << site.story();
  EXPECT_EQ(site["h00003"].lines().count("to=master"), 0U) << site.story();
}

/// An OpenSM with its defaults: it would take a minute.
TEST(ThreeSms, AHigherStandbyThatIsSlowGetsTheFabricFromALowerOne) {
  SmSite site("ft2:4");
  config::SubnetConfig slow;
  slow.sm.priority = 7;
  slow.ha.poll = seconds(10);
  site.start("h00000", 9);
  site.start("h00003", 5);
  site.start("h00005", slow);
  site.world.run_for(seconds(2));
  ASSERT_THAT(site.masters(), ElementsAre("h00000")) << site.story();

  site.kill("h00000");
  site.world.run_for(seconds(8));
  EXPECT_THAT(site.masters(), SizeIs(1)) << site.story();
  EXPECT_EQ(site["h00003"].lines().count("to=master"), 1U) << site.story();

  site.world.run_for(seconds(15));  // a light sweep
  EXPECT_THAT(site.masters(), ElementsAre("h00005")) << site.story();
}

/// The SM that was handed the fabric gives way to one that outranks it: who has handed over finds the master
/// there is, and does not wait for the other one.
TEST(ThreeSms, AHandoverPastAHigherRankLeavesNoneBehind) {
  SmSite site("ft2:4");
  site.start("h00000", 9);
  site.start("h00003", 5);
  site.start("h00005", 3);
  site.world.run_for(seconds(5));
  ASSERT_THAT(site.masters(), ElementsAre("h00000")) << site.story();

  ASSERT_TRUE(site["h00000"]->hand_over(site["h00005"]->sms()->state.self.guid));
  site.world.run_for(seconds(8));

  ASSERT_THAT(site.masters(), SizeIs(1)) << site.story();
  const auto master = site[site.masters().front()]->sms()->state.self.guid;
  for (const auto* host : {"h00000", "h00003", "h00005"}) {
    const auto& state = site[host]->sms()->state;
    if (state.self.guid == master) continue;
    ASSERT_TRUE(state.polled) << host << site.story();
    EXPECT_EQ(state.polled->sm.info.guid, master) << host << site.story();
    EXPECT_FALSE(state.yielded) << host;
  }
}

}  // namespace
}  // namespace smd
