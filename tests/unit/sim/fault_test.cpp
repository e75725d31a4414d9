// SPDX-License-Identifier: Apache-2.0
// What can go wrong, and that it goes wrong as told.
#include <gtest/gtest.h>

#include "tests/support/sim_lab.h"

namespace smd::test {
namespace {

struct FaultsTest : testing::Test {
  sim::World world{two_leaves()};
  Asker asker{world};
  sim::Faults faults = world.fabric().faults();
  mad::DirectedPath leaf0 = path({1}), spine = path({1, 3}), leaf1 = path({1, 3, 2}), h1 = path({1, 3, 2, 1});

  void train() { world.run_for(std::chrono::milliseconds(2)); }
  bool answers(const mad::DirectedPath& way) { return asker.get<wire::NodeInfo>(way).good(); }
};

TEST_F(FaultsTest, ASilentNodeAnswersNothingAndPacketsPass) {
  faults.silent("spine");
  EXPECT_FALSE(answers(spine));
  EXPECT_TRUE(answers(leaf1));
  faults.silent("spine", false);
  EXPECT_TRUE(answers(spine));
}

TEST_F(FaultsTest, ASlowNodeAnswersLate) {
  faults.slow("leaf1", std::chrono::milliseconds(600));
  const auto start = world.now();
  auto smp = wire::Smp::directed(wire::Method::get, wire::NodeInfo::kAttribute, 0, leaf1);
  EXPECT_TRUE(asker.transport().send(smp.bytes(), leaf1, std::chrono::seconds(2)));
  world.run_for(std::chrono::milliseconds(599));
  EXPECT_TRUE(asker.inbox.empty());
  world.run_for(std::chrono::milliseconds(2));
  EXPECT_EQ(asker.inbox.size(), 1U);
  EXPECT_GE(world.now() - start, std::chrono::milliseconds(600));
}

TEST_F(FaultsTest, AnAgentServesOneRequestAfterTheOther) {
  faults.latency({.hop = sim::Duration{0}, .service = std::chrono::milliseconds(10)});
  for (unsigned i = 0; i < 5; ++i) {
    auto smp = wire::Smp::directed(wire::Method::get, wire::NodeInfo::kAttribute, 0, leaf1);
    smp.set_tid(Tid{100 + i});
    EXPECT_TRUE(asker.transport().send(smp.bytes(), leaf1, std::chrono::seconds(2)));
  }
  world.run_for(std::chrono::milliseconds(35));
  EXPECT_EQ(asker.inbox.size(), 3U);
  world.run_for(std::chrono::milliseconds(30));
  EXPECT_EQ(asker.inbox.size(), 5U);
}

TEST_F(FaultsTest, SomeAttributesOnlyAndErrorsToSets) {
  faults.answers_only("h1", {wire::NodeInfo::kAttribute});
  EXPECT_TRUE(answers(h1));
  EXPECT_TRUE(asker.get<wire::PortInfo>(h1, 1).none());
  faults.answers_only("h1", {});

  faults.refuses("h1", wire::SlToVl::kAttribute, wire::kStatusBusy);
  EXPECT_EQ(asker.set(h1, wire::SlToVl{}).status, wire::kStatusBusy);
  EXPECT_TRUE(asker.get<wire::SlToVl>(h1).good());
  faults.refuses("h1", wire::SlToVl::kAttribute, 0);
  EXPECT_TRUE(asker.set(h1, wire::SlToVl{}).good());
}

TEST_F(FaultsTest, ALinkGoesDownAtBothEndsAndComesBackInInit) {
  EXPECT_TRUE(faults.link_down({"leaf1", PortNum{1}}));
  EXPECT_FALSE(answers(h1));
  EXPECT_EQ(asker.get<wire::PortInfo>(leaf1, 1).value.port_state, PortState::down);
  EXPECT_EQ(world.fabric().port_info({"h1"})->phys_state, PhysState::polling);
  EXPECT_TRUE(faults.link_up({"h1"}));
  train();
  EXPECT_TRUE(answers(h1));
  EXPECT_EQ(asker.get<wire::PortInfo>(leaf1, 1).value.port_state, PortState::init);
  EXPECT_FALSE(faults.link_down({"leaf1", PortNum{4}}));
  EXPECT_FALSE(faults.link_down({"nobody", PortNum{1}}));
}

TEST_F(FaultsTest, ARebootLosesTablesLidsAndLinks) {
  bring_up_two_leaves(asker);
  EXPECT_TRUE(faults.reboot("spine", std::chrono::seconds(3)));
  EXPECT_FALSE(answers(leaf1));
  world.run_for(std::chrono::seconds(3));
  train();
  EXPECT_TRUE(answers(leaf1));
  const auto info = asker.get<wire::SwitchInfo>(spine).value;
  EXPECT_EQ(info.linear_fdb_top, 0);
  EXPECT_EQ(asker.get<wire::PortInfo>(spine, 0).value.lid, Lid{});
  EXPECT_EQ(asker.get<wire::LinearForwardingTable>(spine, 0).value.ports[2], kNoPort);
  EXPECT_EQ(asker.get<wire::PortInfo>(leaf0, 3).value.port_state, PortState::init);
}

TEST_F(FaultsTest, ARemovedNodeIsGoneUntilItIsRestored) {
  faults.remove("h1");
  EXPECT_FALSE(answers(h1));
  EXPECT_EQ(asker.get<wire::PortInfo>(leaf1, 1).value.port_state, PortState::down);
  faults.restore("h1");
  train();
  EXPECT_TRUE(answers(h1));
}

TEST_F(FaultsTest, ACableMoves) {
  EXPECT_TRUE(faults.move({"leaf1", PortNum{1}}, {"leaf0", PortNum{2}}));
  train();
  EXPECT_FALSE(answers(h1));
  EXPECT_EQ(asker.get<wire::NodeInfo>(path({1, 2})).value.node, Guid{0x5000});
  EXPECT_FALSE(faults.move({"leaf1", PortNum{1}}, {"leaf0", PortNum{4}}));  // nothing there any more
}

TEST_F(FaultsTest, AFabricSplitsAndJoins) {
  EXPECT_TRUE(faults.split({"leaf1", "h1", "h2"}));
  EXPECT_TRUE(answers(spine));
  EXPECT_FALSE(answers(leaf1));
  Asker there(world, {"h1"});
  EXPECT_TRUE(there.get<wire::NodeInfo>(path({1, 2})).good());  // the other part lives on
  faults.join();
  train();
  EXPECT_TRUE(answers(leaf1));
}

TEST_F(FaultsTest, LossIsOfAllOfANodeOrOfALink) {
  const auto lost = [&](const mad::DirectedPath& way) {
    unsigned none = 0;
    for (unsigned i = 0; i < 200; ++i) none += answers(way) ? 0U : 1U;
    return none;
  };
  faults.loss(0.3);
  const auto both_ways = lost(h1);  // 1 - 0.7^2: 51 %
  EXPECT_GT(both_ways, 70U);
  EXPECT_LT(both_ways, 130U);
  faults.loss(0);
  faults.node_loss("h1", 1.0);
  EXPECT_EQ(lost(h1), 200U);
  EXPECT_EQ(lost(leaf1), 0U);
  faults.node_loss("h1", 0);
  faults.link_loss({"spine", PortNum{2}}, 1.0);
  EXPECT_EQ(lost(leaf1), 200U);
  EXPECT_EQ(lost(spine), 0U);
}

TEST_F(FaultsTest, ALinkCanBeSlow) {
  faults.latency({.hop = sim::Duration{0}, .service = sim::Duration{0}});
  faults.link_latency({"spine", PortNum{2}}, std::chrono::milliseconds(50));
  auto smp = wire::Smp::directed(wire::Method::get, wire::NodeInfo::kAttribute, 0, leaf1);
  EXPECT_TRUE(asker.transport().send(smp.bytes(), leaf1, std::chrono::seconds(2)));
  world.run_for(std::chrono::milliseconds(99));
  EXPECT_TRUE(asker.inbox.empty());
  world.run_for(std::chrono::milliseconds(2));
  EXPECT_EQ(asker.inbox.size(), 1U);
}

TEST_F(FaultsTest, DuplicateGuidsAndWrongCapacitiesCanBeShown) {
  faults.set_guid("h1", Guid{0x6000});  // h2's
  EXPECT_EQ(asker.get<wire::NodeInfo>(h1).value.node, Guid{0x6000});
  EXPECT_EQ(asker.get<wire::NodeInfo>(h1).value.port, Guid{0x6001});
  faults.linear_fdb_cap("spine", 100);
  EXPECT_EQ(asker.get<wire::SwitchInfo>(spine).value.linear_fdb_cap, 100);
  EXPECT_EQ(asker.get<wire::LinearForwardingTable>(spine, 2).status, wire::kStatusBadField);
}

}  // namespace
}  // namespace smd::test
