// SPDX-License-Identifier: Apache-2.0
// Traps: what raises them, how they travel, when they end.
#include "mad/wire/trap.h"

#include <gtest/gtest.h>

#include "tests/support/sim_lab.h"

namespace smd::test {
namespace {

struct Traps : testing::Test {
  sim::World world{two_leaves()};
  Asker asker{world};
  sim::Faults faults = world.fabric().faults();

  void SetUp() override {
    bring_up_two_leaves(asker);
    world.run_for(std::chrono::seconds(1));
    asker.inbox.clear();
  }
  std::vector<wire::Notice> notices(sim::Duration within = std::chrono::milliseconds(50)) {
    asker.inbox.clear();
    world.run_for(within);
    std::vector<wire::Notice> found;
    for (const auto& smp : asker.came(wire::Method::trap)) found.push_back(smp.get<wire::Notice>());
    return found;
  }
  void repress_all() {
    for (const auto& trap : asker.came(wire::Method::trap)) {
      auto smp = trap;
      smp.set_method(wire::Method::trap_repress);
      EXPECT_TRUE(asker.transport().send(smp.bytes(),
                                         mad::LidRoute{.lid = trap.get<wire::Notice>().issuer_lid},
                                         std::chrono::milliseconds(0)));
    }
    world.run_for(std::chrono::milliseconds(10));
  }
};

TEST_F(Traps, ALostLinkRaises128FromTheSwitch) {
  faults.link_down({"h1"});
  const auto found = notices();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].trap, wire::trap::kLinkStateChange);
  EXPECT_EQ(found[0].producer, wire::kProducerSwitch);
  EXPECT_EQ(wire::details<wire::LinkStateDetails>(found[0])->lid, Lid{12});
}

TEST_F(Traps, ATrapComesAgainUntilItIsRepressed) {
  faults.link_down({"h1"});
  EXPECT_EQ(notices(std::chrono::milliseconds(350)).size(), 4U);  // at 0, 100, 200, 300 ms
  repress_all();
  EXPECT_EQ(notices(std::chrono::seconds(5)).size(), 0U);

  faults.link_up({"h1"});
  EXPECT_EQ(notices().size(), 1U);
}

TEST_F(Traps, TheSubnetTimeoutSetsThePace) {
  asker.change<wire::PortInfo>(path({1, 3, 2}), 0, [](wire::PortInfo& info) { info.subnet_timeout = 18; });
  faults.link_down({"h1"});
  EXPECT_EQ(notices(std::chrono::seconds(3)).size(), 3U);  // each 1.07 s
}

TEST_F(Traps, TheTrapOfTheOnlyWayToTheSmIsLostAndComesWhenItIsBack) {
  faults.link_down({"spine", PortNum{2}});
  for (const auto& notice : notices(std::chrono::seconds(1))) EXPECT_EQ(notice.issuer_lid, Lid{11});
  repress_all();

  faults.link_up({"spine", PortNum{2}});
  bool from_leaf1 = false;
  for (const auto& notice : notices(std::chrono::seconds(1)))
    from_leaf1 = from_leaf1 || notice.issuer_lid == Lid{12};
  EXPECT_TRUE(from_leaf1);
}

TEST_F(Traps, NewCapabilitiesAndNamesRaise144) {
  Asker other(world, {"h2"});
  ASSERT_TRUE(other.transport().claim_sm());
  auto found = notices();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].trap, wire::trap::kLocalChange);
  const auto mask = wire::details<wire::LocalChangeDetails>(found[0])->capability_mask;
  EXPECT_NE(mask & wire::kCapIsSm, 0U);
  repress_all();

  faults.rename("h1", "other-name");
  found = notices();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(wire::details<wire::LocalChangeDetails>(found[0])->node_description_change);
  EXPECT_EQ(asker.get<wire::NodeDescription>(Lid{2}).value.text, "other-name");
}

TEST_F(Traps, AWrongMKeyRaises256WithTheWayItCame) {
  faults.set_m_key({"h1"}, 0x77, 2);
  EXPECT_TRUE(asker.get<wire::NodeInfo>(path({1, 3, 2, 1})).none());
  const auto traps = asker.came(wire::Method::trap);
  ASSERT_FALSE(traps.empty());
  const auto details = wire::details<wire::BadMKeyDetails>(traps[0].get<wire::Notice>());
  ASSERT_TRUE(details);
  EXPECT_EQ(details->attribute, wire::NodeInfo::kAttribute);
  EXPECT_TRUE(details->directed);
  EXPECT_EQ(details->hop_count, 4);
  EXPECT_EQ(details->return_path[2], PortNum{3});
}

TEST_F(Traps, EveryOtherTrapCanBeRaisedByHand) {
  for (const unsigned number : {129U, 130U, 131U, 145U, 257U, 258U, 259U}) {
    ASSERT_TRUE(faults.trap({"leaf1", PortNum{1}}, static_cast<std::uint16_t>(number)));
    const auto found = notices();
    ASSERT_EQ(found.size(), 1U) << number;
    EXPECT_EQ(found[0].trap, number);
    repress_all();
  }
  EXPECT_FALSE(faults.trap({"leaf1", PortNum{1}}, 7));
}

TEST_F(Traps, APortThatHasNoSmIsSilent) {
  sim::World fresh(two_leaves());
  Asker there(fresh);
  fresh.fabric().faults().link_down({"h1"});
  fresh.run_for(std::chrono::seconds(2));
  EXPECT_TRUE(there.inbox.empty());
}

}  // namespace
}  // namespace smd::test
