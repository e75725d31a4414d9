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
}

TEST_F(Traps, AChangeRaisesOneOnlyWhereTheLastOneWasRead) {
  faults.link_down({"h1"});
  EXPECT_EQ(notices().size(), 1U);
  repress_all();
  faults.link_up({"h1"});
  EXPECT_EQ(notices(std::chrono::seconds(5)).size(), 0U) << "PortStateChange is set";

  const auto leaf1 = path({1, 3, 2});
  ASSERT_TRUE(asker.get<wire::SwitchInfo>(leaf1).value.port_state_change);
  asker.change<wire::SwitchInfo>(leaf1, 0, [](wire::SwitchInfo& info) { info.port_state_change = true; });
  faults.link_down({"h1"});

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

TEST_F(Traps, APortWithErrorsRaises129To131AndNamesItself) {
  for (const auto number :
       {wire::trap::kLocalLinkIntegrity, wire::trap::kBufferOverrun, wire::trap::kFlowControlWatchdog}) {
    ASSERT_TRUE(faults.port_error({"leaf1", PortNum{1}}, number));
    const auto found = notices();
    ASSERT_EQ(found.size(), 1U) << number;
    EXPECT_EQ(found[0].trap, number);
    const auto details = wire::details<wire::PortErrorDetails>(found[0]);
    EXPECT_EQ(details->lid, Lid{12});
    EXPECT_EQ(details->port, PortNum{1});
    repress_all();
  }
  EXPECT_FALSE(faults.port_error({"leaf1", PortNum{1}}, 7));
}

TEST_F(Traps, ACounterThatGrowsRaisesItsTrapAtEachErrorButNoFasterThanTrapsAreRepeated) {
  const sim::Place port{"h1", PortNum{1}};
  faults.set_counter(port, sim::Counter::link_integrity_errors, 3);
  auto found = notices();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].trap, wire::trap::kLocalLinkIntegrity);
  repress_all();
  faults.set_counter(port, sim::Counter::link_integrity_errors, 0);
  EXPECT_EQ(notices(std::chrono::seconds(1)).size(), 0U);

  faults.set_counter(port, sim::Counter::buffer_overruns, 0, 1.0);
  unsigned raised = 0;
  for (unsigned second = 0; second < 10; ++second) {
    const auto now = notices(std::chrono::seconds(1));
    for (const auto& notice : now) EXPECT_EQ(notice.trap, wire::trap::kBufferOverrun);
    raised += now.empty() ? 0U : 1U;
    repress_all();
  }
  EXPECT_GE(raised, 8U);
  faults.set_counter(port, sim::Counter::buffer_overruns, 10);
  world.run_for(std::chrono::milliseconds(10));
  repress_all();
  EXPECT_EQ(notices(std::chrono::seconds(5)).size(), 0U);
}

TEST_F(Traps, ANewSystemImageGuidRaises145FromEachPort) {
  ASSERT_TRUE(faults.set_system_image("leaf1", Guid{0x77}));
  const auto found = notices();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(wire::details<wire::SystemImageDetails>(found[0])->system_image, Guid{0x77});
  EXPECT_EQ(asker.get<wire::NodeInfo>(path({1, 3, 2})).value.system_image, Guid{0x77});
}

TEST_F(Traps, NewCapabilitiesOfAPortRaise144OnceTheyDiffer) {
  const auto mask = world.fabric().port_info({"h1"})->capability_mask;
  ASSERT_TRUE(faults.set_capabilities({"h1"}, mask));
  EXPECT_EQ(notices().size(), 0U);
  ASSERT_TRUE(faults.set_capabilities({"h1"}, mask | wire::kCapIsSm));
  const auto found = notices();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(wire::details<wire::LocalChangeDetails>(found[0])->capability_mask, mask | wire::kCapIsSm);
  EXPECT_FALSE(faults.set_capabilities({"leaf1", PortNum{1}}, 0));
}

TEST_F(Traps, AnSmpWithAWrongMKeyIsTold) {
  ASSERT_TRUE(faults.smp_with_m_key({"h1"}, 0x11));  // no key is set: anything goes
  EXPECT_EQ(notices().size(), 0U);
  faults.set_m_key({"h1"}, 0x77, 1);
  ASSERT_TRUE(faults.smp_with_m_key({"h1"}, 0x77));
  EXPECT_EQ(notices().size(), 0U);
  ASSERT_TRUE(faults.smp_with_m_key({"h1"}, 0x11));
  const auto found = notices();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(wire::details<wire::BadMKeyDetails>(found[0])->m_key, 0x11U);
  EXPECT_EQ(world.fabric().port_info({"h1"})->m_key_violations, 1U);
}

TEST_F(Traps, ARefusedPKeyRaises257AtTheEndAnd259AtASwitchThatEnforces) {
  faults.set_p_key({"h0", PortNum{1}}, 1, PKey{0x8005});
  const sim::DataPacket packet{.dlid = Lid{2}, .sl = Sl{1}, .pkey = PKey{0x8005}};
  EXPECT_EQ(world.fabric().send_data({"h0"}, packet).fate, sim::Fate::no_p_key);
  auto found = notices();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].trap, wire::trap::kBadPKey);
  const auto end = wire::details<wire::BadKeyDetails>(found[0]);
  EXPECT_EQ(end->key, 0x8005U);
  EXPECT_EQ(end->lid1, Lid{1});
  EXPECT_EQ(end->lid2, Lid{2});
  EXPECT_EQ(end->sl, Sl{1});
  EXPECT_EQ(end->gid1.guid(), Guid{0x4001});
  EXPECT_EQ(world.fabric().port_info({"h1"})->p_key_violations, 1U);
  repress_all();

  asker.change<wire::PortInfo>(path({1, 3, 2}), 1,
                               [](wire::PortInfo& info) { info.partition_enforce_out = true; });
  world.fabric().send_data({"h0"}, packet);
  found = notices();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].trap, wire::trap::kBadPKeyAtSwitch);
  EXPECT_EQ(found[0].producer, wire::kProducerSwitch);
  const auto at_switch = wire::details<wire::BadPKeyAtSwitchDetails>(found[0]);
  EXPECT_EQ(at_switch->switch_lid, Lid{12});
  EXPECT_EQ(at_switch->port, PortNum{1});
  EXPECT_EQ(at_switch->gid2.guid(), Guid{0x5001});
  EXPECT_EQ(world.fabric().port_info({"h1"})->p_key_violations, 1U);  // it never got there
}

TEST_F(Traps, AWrongQKeyRaises258) {
  EXPECT_EQ(world.fabric().send_data({"h0"}, {.dlid = Lid{2}, .qkey = 0x1234}).fate, sim::Fate::no_q_key);
  const auto found = notices();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].trap, wire::trap::kBadQKey);
  EXPECT_EQ(wire::details<wire::BadKeyDetails>(found[0])->key, 0x1234U);
  EXPECT_EQ(world.fabric().port_info({"h1"})->q_key_violations, 1U);
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
