// SPDX-License-Identifier: Apache-2.0
// Adaptive routing of NVIDIA switches: groups of ports win over the linear forwarding table while it is on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mad/sim/console/control.h"
#include "mad/wire/class_port_info.h"
#include "mad/wire/modifier.h"
#include "tests/support/sim_lab.h"

namespace smd::test {
namespace {

using sim::Fate;
using testing::HasSubstr;

/// two_leaves() in operation: h1 (LID 2) is behind port 1 of leaf1, h2 (LID 3) behind port 2.
struct AdaptiveRouting : testing::Test {
  AdaptiveRouting() { bring_up_two_leaves(asker); }

  std::string says(std::string_view command) {
    const auto result = sim::control(world.fabric(), command);
    return result ? *result : "error: " + result.error();
  }
  sim::Walk way(unsigned lid, unsigned sl = 0) {
    return world.fabric().walk({"h0"}, Lid{static_cast<std::uint16_t>(lid)},
                               Sl{static_cast<std::uint8_t>(sl)});
  }
  wire::ArInfo info() { return asker.get<wire::ArInfo>(leaf1).value; }

  sim::World world{two_leaves()};
  Asker asker{world};
  mad::DirectedPath leaf1 = path({1, 3, 2}), h1 = path({1, 3, 2, 1});
};

TEST_F(AdaptiveRouting, IsOffAfterAResetAndKnownToSwitchesOfNvidiaOnly) {
  EXPECT_TRUE(asker.get<wire::ArInfo>(leaf1).good());
  EXPECT_FALSE(info().enabled);
  EXPECT_NE(info().group_cap, 0U);
  EXPECT_EQ(asker.get<wire::ArInfo>(leaf1, 1).status, wire::kStatusBadField);
  EXPECT_EQ(asker.get<wire::ArInfo>(h1).status, wire::kStatusBadMethodAttribute);

  auto fabric = two_leaves();
  fabric.nodes[0].vendor_id = 0x66a;
  sim::World other(fabric);
  Asker there(other);
  EXPECT_EQ(there.get<wire::ArInfo>(path({1})).status, wire::kStatusBadMethodAttribute);
  EXPECT_FALSE(other.fabric().faults().adaptive_routing("leaf0", sim::Adaptive::on));
}

TEST_F(AdaptiveRouting, AGroupWinsOverTheTableWhileItIsOn) {
  ASSERT_TRUE(way(2).delivered());
  EXPECT_EQ(says("adaptive leaf1 2 2"), "");
  EXPECT_TRUE(way(2).delivered()) << "it is off";

  EXPECT_EQ(says("adaptive leaf1 on"), "");
  EXPECT_TRUE(info().enabled);
  EXPECT_EQ(way(2).fate, Fate::ca_in_between) << "h2 has another LID";
  EXPECT_TRUE(way(3).delivered()) << "the table counts for LIDs without a group";
  EXPECT_THAT(says("flow h0 h1 0 0xffff"), HasSubstr("leaf1[2]"));
  EXPECT_LT(world.fabric().reach().delivered, world.fabric().reach().pairs);

  EXPECT_EQ(says("adaptive leaf1 off"), "");
  EXPECT_TRUE(way(2).delivered());
}

TEST_F(AdaptiveRouting, TheFirstActivePortOfTheGroupIsTaken) {
  says("adaptive leaf1 on");
  says("adaptive leaf1 2 4 1");  // nothing is at port 4
  EXPECT_TRUE(way(2).delivered());

  says("adaptive leaf1 2 4");
  EXPECT_EQ(way(2).fate, Fate::no_link);

  says("adaptive leaf1 2");
  EXPECT_TRUE(way(2).delivered()) << "the group is gone";
}

TEST_F(AdaptiveRouting, ManagementDatagramsGoByTheGroupAndSmpsByTheTable) {
  says("adaptive leaf1 on");
  says("adaptive leaf1 2 2");

  EXPECT_EQ(asker.get<wire::NodeInfo>(Lid{2}).value.node, Guid{0x5000});
  const auto gsi = world.transport({"h0"}, sim::Interface::gsi);
  const auto sent_to_another = [&] {
    std::vector<std::uint8_t> mad(wire::kMadBytes);
    wire::encode(wire::MadHeader{.mgmt_class = wire::MgmtClass::perf,
                                 .method = wire::Method::get,
                                 .attribute = wire::ClassPortInfo::kAttribute},
                 mad);
    gsi->send(mad, mad::LidRoute{.lid = Lid{2}, .qkey = sim::kQKey}, std::chrono::seconds(1));
    world.run_for(std::chrono::milliseconds(1));
    return world.fabric().state().drops.wrong_lid;
  };
  EXPECT_EQ(sent_to_another(), 1U);
  asker.change<wire::ArInfo>(leaf1, 0, [](wire::ArInfo& ar) { ar.transports_off = 1; });
  EXPECT_EQ(sent_to_another(), 1U) << "UD is not routed adaptively any more";
}

TEST_F(AdaptiveRouting, SlsThatAreNotAdaptiveGoByTheTable) {
  says("adaptive leaf1 on");
  says("adaptive leaf1 2 2");
  asker.change<wire::ArInfo>(leaf1, 0, [](wire::ArInfo& ar) {
    ar.by_sl_enabled = true;
    ar.by_sl_mask = 0x2;
  });

  EXPECT_TRUE(way(2, 0).delivered());
  EXPECT_EQ(way(2, 1).fate, Fate::ca_in_between);
}

TEST_F(AdaptiveRouting, ASetChangesWhatAnSmDecidesAndNotWhatTheSwitchCanDo) {
  const auto before = info();
  auto desired = before;
  desired.enabled = true;
  desired.group_top = 5;
  desired.group_cap = 0;
  desired.reserved6[7] = 0x5A;
  const auto answer = asker.set<wire::ArInfo>(leaf1, desired);

  EXPECT_TRUE(answer.good());
  desired.group_cap = before.group_cap;
  EXPECT_EQ(answer.value, desired);
  EXPECT_EQ(info(), desired);

  world.fabric().faults().reboot("leaf1");
  world.run_for(std::chrono::seconds(1));
  EXPECT_EQ(info(), before);
}

TEST_F(AdaptiveRouting, ALinearTableEndsItOrIsRefused) {
  says("adaptive leaf1 on");
  const auto table = asker.get<wire::LinearForwardingTable>(leaf1, wire::lft_modifier(0)).value;
  EXPECT_TRUE(info().enabled) << "a Get changes nothing";
  EXPECT_TRUE(asker.set<wire::LinearForwardingTable>(leaf1, table, wire::lft_modifier(0)).good());
  EXPECT_FALSE(info().enabled);

  asker.change<wire::ArInfo>(leaf1, 0, [](wire::ArInfo& ar) { ar.enabled = ar.no_fallback = true; });
  EXPECT_EQ(asker.set<wire::LinearForwardingTable>(leaf1, table, wire::lft_modifier(0)).status,
            wire::kStatusBadField);
  EXPECT_TRUE(info().enabled);
}

TEST_F(AdaptiveRouting, FaultsOfTheAttribute) {
  says("adaptive leaf1 on");
  EXPECT_EQ(says("node forgets leaf1 ARInfo E"), "");
  auto off = info();
  off.enabled = false;
  EXPECT_TRUE(asker.set<wire::ArInfo>(leaf1, off).value.enabled);
  EXPECT_EQ(says("node refuses leaf1 ARInfo 7"), "");
  EXPECT_EQ(asker.set<wire::ArInfo>(leaf1, off).status, 7);

  EXPECT_EQ(says("adaptive leaf1 none"), "");
  EXPECT_EQ(asker.get<wire::ArInfo>(leaf1).status, wire::kStatusBadMethodAttribute);
  world.fabric().faults().reboot("leaf1");
  world.run_for(std::chrono::seconds(1));
  EXPECT_EQ(asker.get<wire::ArInfo>(leaf1).status, wire::kStatusBadMethodAttribute);
}

TEST_F(AdaptiveRouting, IsShown) {
  world.fabric().faults().latency({});
  says("adaptive leaf1 2 2 1");
  EXPECT_EQ(says("show"), "no faults active");
  says("adaptive leaf1 on");
  EXPECT_EQ(says("show"), "0x0000000000003000 leaf1: [routes adaptively: LID 2 by 2|1]");
  EXPECT_THAT(says("show leaf1"), HasSubstr("leaf1: [routes adaptively: LID 2 by 2|1]\n"));
  says("adaptive leaf1 2");
  EXPECT_EQ(says("show"), "0x0000000000003000 leaf1: [routes adaptively]");
}

TEST_F(AdaptiveRouting, WrongCommandsSayWhatIsAllowed) {
  EXPECT_EQ(says("adaptive"),
            "error: found 1 words, allowed 'adaptive NODE on|off|none, adaptive NODE LID [PORT…]'");
  EXPECT_EQ(says("adaptive h0 on"), "error: found node \"h0\", allowed a switch of NVIDIA");
  EXPECT_EQ(says("adaptive nowhere on"),
            "error: found node \"nowhere\", allowed a name, an id or a GUID (0x…) of this fabric");
  EXPECT_EQ(says("adaptive leaf1 up"),
            "error: found value \"up\", allowed on, off, none or a LID, 1 to 49151 (0xbfff)");
  EXPECT_EQ(says("adaptive leaf1 2 5"), "error: found port of leaf1 \"5\", allowed 1 to 4");
  says("adaptive leaf1 none");
  EXPECT_EQ(says("adaptive leaf1 2 1"),
            "error: found node \"leaf1\", allowed a switch of NVIDIA with the attribute ARInfo");
}

}  // namespace
}  // namespace smd::test
