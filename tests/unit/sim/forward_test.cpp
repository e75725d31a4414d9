// SPDX-License-Identifier: Apache-2.0
// Packets go where the tables say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mad/wire/modifier.h"
#include "tests/support/sim_lab.h"

namespace smd::test {
namespace {

using sim::Fate;
using testing::ElementsAre;
using testing::IsEmpty;

struct Forwarding : testing::Test {
  sim::World world{two_leaves()};
  Asker asker{world};
  mad::DirectedPath leaf0 = path({1}), spine = path({1, 3}), leaf1 = path({1, 3, 2});

  sim::PortIndex port(const char* node, unsigned number) {
    return *world.fabric().find({node, PortNum{static_cast<std::uint8_t>(number)}});
  }
  std::vector<std::string> nodes(const sim::Walk& walk) {
    std::vector<std::string> names;
    for (const auto& hop : walk.hops) names.push_back(world.fabric().state().nodes[hop.node].name);
    return names;
  }
  void route(const char* node, unsigned lid, unsigned out) {
    world.fabric().faults().set_lft_entry(node, Lid{static_cast<std::uint16_t>(lid)},
                                          PortNum{static_cast<std::uint8_t>(out)});
  }
};

TEST_F(Forwarding, DirectedPathsThatLeadNowhereAreDropped) {
  EXPECT_TRUE(asker.get<wire::NodeInfo>(path({1, 4})).none());           // no cable
  EXPECT_TRUE(asker.get<wire::NodeInfo>(path({1, 9})).none());           // no such port
  EXPECT_TRUE(asker.get<wire::NodeInfo>(path({1, 0})).none());           // port 0 is no way on
  EXPECT_TRUE(asker.get<wire::NodeInfo>(path({2})).none());              // not the port of the client
  EXPECT_TRUE(asker.get<wire::NodeInfo>(path({1, 3, 2, 1, 1})).none());  // a CA does not forward
  EXPECT_TRUE(asker.get<wire::NodeInfo>(path({1, 1})).good());           // back to the client's own node
}

TEST_F(Forwarding, WrongHopPointersAndCountsAreDropped) {
  auto smp = wire::Smp::directed(wire::Method::get, wire::NodeInfo::kAttribute, 0, leaf0);
  smp.set_hop_pointer(1);
  EXPECT_FALSE(asker.ask(smp, leaf0));
  smp.set_hop_pointer(0);
  smp.set_hop_count(200);
  EXPECT_FALSE(asker.ask(smp, leaf0));
}

TEST_F(Forwarding, SmpsByLidNeedTablesButNotActiveLinks) {
  EXPECT_TRUE(asker.get<wire::NodeInfo>(Lid{2}).none());
  bring_up_two_leaves(asker);
  EXPECT_EQ(asker.get<wire::NodeInfo>(Lid{2}).value.node, Guid{0x5000});
  EXPECT_EQ(asker.get<wire::NodeInfo>(Lid{11}).value.node, Guid{0x2000});
  EXPECT_EQ(asker.get<wire::NodeInfo>(Lid{1}).value.node, Guid{0x4000});  // itself

  asker.change<wire::PortInfo>(leaf1, 1, [](wire::PortInfo& i) { i.port_state = PortState::down; });
  EXPECT_EQ(world.fabric().port_info({"h1", PortNum{1}})->port_state, PortState::init);
  EXPECT_TRUE(asker.get<wire::NodeInfo>(Lid{2}).good());  // VL15 passes in Init
  EXPECT_EQ(world.fabric().walk({"h0"}, Lid{2}).fate, Fate::not_active);
}

TEST_F(Forwarding, AWalkSaysEachHop) {
  bring_up_two_leaves(asker);
  const auto walk = world.fabric().walk({"h0"}, Lid{2});
  EXPECT_TRUE(walk.delivered());
  EXPECT_THAT(nodes(walk), ElementsAre("h0", "leaf0", "spine", "leaf1", "h1"));
  EXPECT_EQ(to_string(world.fabric().state(), walk),
            "h0[1] -> [1]leaf0[3] -> [1]spine[2] -> [3]leaf1[1] -> [1]h1: delivered");
  EXPECT_TRUE(world.fabric().walk({"spine"}, Lid{10}).delivered());
  EXPECT_TRUE(world.fabric().walk({"h2"}, Lid{11}).delivered());
}

TEST_F(Forwarding, WhatWasProgrammedCountsNotWhatWasMeant) {
  bring_up_two_leaves(asker);
  route("leaf1", 2, 2);
  EXPECT_EQ(world.fabric().walk({"h0"}, Lid{2}).fate, Fate::ca_in_between);  // h2, which has LID 3
  EXPECT_TRUE(asker.get<wire::NodeInfo>(Lid{2}).none());
  route("leaf1", 2, 255);
  EXPECT_EQ(world.fabric().walk({"h0"}, Lid{2}).fate, Fate::no_route);
  route("leaf1", 2, 0);
  EXPECT_EQ(world.fabric().walk({"h0"}, Lid{2}).fate, Fate::not_the_lid);
  route("leaf1", 2, 4);
  EXPECT_EQ(world.fabric().walk({"h0"}, Lid{2}).fate, Fate::no_link);
  route("leaf1", 2, 3);
  EXPECT_EQ(world.fabric().walk({"h0"}, Lid{2}).fate, Fate::loop);
  EXPECT_TRUE(asker.get<wire::NodeInfo>(Lid{2}).none());
}

TEST_F(Forwarding, EntriesAboveTheTopAreNotUsed) {
  bring_up_two_leaves(asker);
  asker.change<wire::SwitchInfo>(spine, 0, [](wire::SwitchInfo& info) { info.linear_fdb_top = 1; });
  EXPECT_EQ(world.fabric().walk({"h0"}, Lid{2}).fate, Fate::no_route);
  EXPECT_TRUE(asker.get<wire::NodeInfo>(Lid{2}).none());
}

TEST_F(Forwarding, LmcGivesAPortSeveralLids) {
  bring_up_two_leaves(asker);
  world.fabric().faults().set_lid({"h1"}, Lid{32}, 2);
  for (const unsigned lid : {32U, 35U, 36U}) {
    route("leaf0", lid, 3);
    route("spine", lid, 2);
    route("leaf1", lid, 1);
  }
  EXPECT_TRUE(world.fabric().walk({"h0"}, Lid{32}).delivered());
  EXPECT_TRUE(world.fabric().walk({"h0"}, Lid{35}).delivered());
  EXPECT_FALSE(world.fabric().walk({"h0"}, Lid{36}).delivered());
}

TEST_F(Forwarding, AnSlWithoutAVirtualLaneDies) {
  bring_up_two_leaves(asker);
  EXPECT_TRUE(world.fabric().walk({"h0"}, Lid{2}, Sl{5}).delivered());
  EXPECT_EQ(world.fabric().walk({"h0"}, Lid{2}, Sl{5}).hops[1].vl, Vl{5});
  wire::SlToVl table;
  table.vls.fill(Vl{15});
  asker.set(leaf0, table, wire::sl_to_vl_modifier(PortNum{1}, PortNum{3}));
  EXPECT_EQ(world.fabric().walk({"h0"}, Lid{2}, Sl{5}).fate, Fate::no_vl);
}

TEST_F(Forwarding, ALaneThatTheArbitrationNeverServesStarves) {
  bring_up_two_leaves(asker);
  wire::VlArbitration low;
  low.entries[0] = {.vl = Vl{0}, .weight = 64};
  asker.set(leaf0, low, 1U << 16U | 3U);

  EXPECT_TRUE(world.fabric().walk({"h0"}, Lid{2}, Sl{0}).delivered());
  const auto way = world.fabric().walk({"h0"}, Lid{2}, Sl{5});
  EXPECT_EQ(way.fate, sim::Fate::starved);
  EXPECT_EQ(way.hops.size(), 2U);
}

TEST_F(Forwarding, PartitionsCountAtBothEndsAndWhereTheyAreEnforced) {
  bring_up_two_leaves(asker);
  const auto fate = [&](unsigned key) {
    return world.fabric().walk({"h0"}, Lid{2}, Sl{}, PKey{static_cast<std::uint16_t>(key)}).fate;
  };
  EXPECT_EQ(fate(0xFFFF), Fate::delivered);
  EXPECT_EQ(fate(0x8001), Fate::no_p_key);
  auto faults = world.fabric().faults();
  faults.set_p_key({"h0"}, 1, PKey{0x8001});
  EXPECT_EQ(fate(0x8001), Fate::no_p_key);
  faults.set_p_key({"h1"}, 1, PKey{0x8001});
  EXPECT_EQ(fate(0x8001), Fate::delivered);
  asker.change<wire::PortInfo>(spine, 1, [](wire::PortInfo& info) { info.partition_enforce_in = true; });
  EXPECT_EQ(fate(0x8001), Fate::no_p_key);
  const auto way = world.fabric().walk({"h0"}, Lid{2}, Sl{}, PKey{0x8001});
  EXPECT_EQ(to_string(world.fabric().state(), way),
            "h0[1] -> [1]leaf0[3]: P_Key 0x8001 is not in the P_Key table of spine port 1, coming in");
  EXPECT_FALSE(way.hops.back().vl);
  faults.set_p_key({"spine", PortNum{1}}, 1, PKey{0x8001});
  EXPECT_EQ(fate(0x8001), Fate::delivered);
}

TEST_F(Forwarding, ASwitchPortEnforcesThePartitionAndLeavesMembershipToTheEndPort) {
  bring_up_two_leaves(asker);
  auto faults = world.fabric().faults();
  const auto walk = [&](const char* from, unsigned lid, unsigned key) {
    return world.fabric().walk({from}, Lid{static_cast<std::uint16_t>(lid)}, Sl{},
                               PKey{static_cast<std::uint16_t>(key)});
  };
  // As OpenSM leaves it with ALL=limited, SELF=full: h0 is the SM's host.
  faults.set_p_key({"h1"}, 0, PKey{0x7FFF});
  faults.set_p_key({"h2"}, 0, PKey{0x7FFF});
  faults.set_p_key({"leaf1", PortNum{1}}, 0, PKey{0x7FFF});
  faults.set_p_key({"leaf1", PortNum{2}}, 0, PKey{0x7FFF});
  for (const unsigned port : {1U, 2U}) {
    asker.change<wire::PortInfo>(leaf1, port, [](wire::PortInfo& info) {
      info.partition_enforce_in = true;
      info.partition_enforce_out = true;
    });
  }

  EXPECT_EQ(walk("h1", 1, 0x7FFF).fate, Fate::delivered);
  EXPECT_EQ(walk("h0", 2, 0xFFFF).fate, Fate::delivered);
  const auto limited = walk("h1", 3, 0x7FFF);
  EXPECT_EQ(limited.fate, Fate::no_p_key);
  EXPECT_EQ(to_string(world.fabric().state(), limited),
            "h1[1] -> [1]leaf1[2] -> [1]h2: P_Key 0x7fff is limited, and so is that in the P_Key table of h2 "
            "port 1");
  faults.set_p_key({"h1"}, 1, PKey{0x8005});
  const auto foreign = walk("h1", 3, 0x8005);
  EXPECT_EQ(foreign.fate, Fate::no_p_key);
  EXPECT_EQ(to_string(world.fabric().state(), foreign),
            "h1[1]: P_Key 0x8005 is not in the P_Key table of leaf1 port 1, coming in");
}

TEST_F(Forwarding, AMemberSendsWithTheKeyThatItHas) {
  bring_up_two_leaves(asker);
  auto faults = world.fabric().faults();
  faults.set_p_key({"h0"}, 0, PKey{0x1234});
  faults.set_p_key({"h1"}, 0, PKey{0x9234});
  EXPECT_EQ(world.fabric().walk({"h0"}, Lid{2}, Sl{}, PKey{0x1234}).fate, Fate::delivered);
  EXPECT_EQ(world.fabric().walk({"h0"}, Lid{2}, Sl{}, PKey{0x9234}).fate, Fate::no_p_key);
}

TEST_F(Forwarding, ADirectedPathMayBeginAtALid) {
  bring_up_two_leaves(asker);
  const auto name_of = [&](unsigned lid, std::initializer_list<unsigned> hops) -> std::string {
    auto smp = wire::Smp::directed(wire::Method::get, wire::NodeDescription::kAttribute, 0, path(hops));
    smp.set_dr_slid(Lid{1});
    const auto answer = asker.ask(smp, mad::LidRoute{.lid = Lid{static_cast<std::uint16_t>(lid)}});
    return answer ? answer->get<wire::NodeDescription>().text : "nobody";
  };
  EXPECT_EQ(name_of(11, {}), "spine");
  EXPECT_EQ(name_of(11, {2}), "leaf1");
  EXPECT_EQ(name_of(11, {2, 2}), "h2");
  EXPECT_EQ(name_of(2, {}), "h1");
  EXPECT_EQ(name_of(11, {4}), "nobody");
}

TEST_F(Forwarding, TheReachOfAllPairsNamesWhatFails) {
  bring_up_two_leaves(asker);
  EXPECT_EQ(world.fabric().reach().pairs, 6U);
  EXPECT_TRUE(world.fabric().reach().all());
  route("leaf0", 2, 255);
  const auto reach = world.fabric().reach();
  EXPECT_EQ(reach.delivered, 5U);
  EXPECT_THAT(reach.failures, ElementsAre("h0[1] -> [1]leaf0: no route"));
}

TEST_F(Forwarding, MulticastFollowsTheMasksAndNeverGoesBack) {
  bring_up_two_leaves(asker);
  const auto masks = [&](const mad::DirectedPath& way, std::uint16_t mask) {
    wire::MulticastForwardingTable table;
    table.masks[5] = mask;
    asker.set(way, table, wire::mft_modifier(0, 0));
  };
  masks(leaf0, 0b1010);
  masks(spine, 0b0110);
  masks(leaf1, 0b1110);
  const auto spread = world.fabric().spread({"h0"}, Lid{0xC005});
  EXPECT_THAT(spread.reached, ElementsAre(port("h1", 1), port("h2", 1)));
  EXPECT_FALSE(spread.twice);
  EXPECT_THAT(world.fabric().spread({"h0"}, Lid{0xC006}).reached, IsEmpty());
}

TEST_F(Forwarding, AMulticastLoopIsSeen) {
  FabricBuilder b;
  const auto x = b.add_switch("x", 4), y = b.add_switch("y", 4), h = b.add_ca("h");
  b.link(h, 1, x, 1);
  b.link(x, 2, y, 2);
  b.link(x, 3, y, 3);
  sim::World ring(b.fabric());
  Asker there(ring, {"h"});
  for (const auto state : {PortState::armed, PortState::active}) {
    for (const auto& [way, number] : {std::pair{path({}), 1U},
                                      {path({1}), 1U},
                                      {path({1}), 2U},
                                      {path({1}), 3U},
                                      {path({1, 2}), 2U},
                                      {path({1, 2}), 3U}}) {
      there.change<wire::PortInfo>(way, number, [&](wire::PortInfo& info) { info.port_state = state; });
    }
  }
  wire::MulticastForwardingTable table;
  table.masks[0] = 0b1100;
  for (const auto& way : {path({1}), path({1, 2})}) there.set(way, table, wire::mft_modifier(0, 0));
  EXPECT_TRUE(ring.fabric().spread({"h"}, Lid{0xC000}).twice);
}

TEST_F(Forwarding, GeneralMadsNeedActiveLinksAndFindTheOtherClient) {
  auto here = world.transport({"h0"}, sim::Interface::gsi),
       there = world.transport({"h1"}, sim::Interface::gsi);
  std::vector<mad::Received> got, answers;
  there->on_receive([&](std::span<mad::Received> mads) {
    for (auto& mad : mads) got.push_back(mad);
  });
  here->on_receive([&](std::span<mad::Received> mads) {
    for (auto& mad : mads) {
      if (mad.error == 0) answers.push_back(mad);
    }
  });
  std::vector<std::uint8_t> mad(300);  // longer than one packet: what RMPP carries arrives whole
  wire::encode(wire::MadHeader{.mgmt_class = wire::MgmtClass::sa, .method = wire::Method::get, .tid = Tid{9}},
               mad);
  const auto send = [&] {
    EXPECT_TRUE(here->send(mad, mad::LidRoute{.lid = Lid{2}, .sl = Sl{}, .qp = 1, .qkey = sim::kQKey},
                           std::chrono::seconds(10)));
    world.run_for(std::chrono::seconds(1));
  };
  send();
  EXPECT_THAT(got, IsEmpty());
  bring_up_two_leaves(asker);
  send();
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].bytes.size(), 300U);
  EXPECT_EQ(got[0].from.lid, Lid{1});

  auto header = *wire::decode<wire::MadHeader>(got[0].bytes);
  header.method = wire::Method::get_resp;
  wire::encode_over(header, got[0].bytes);
  EXPECT_TRUE(there->send(got[0].bytes, got[0].from, std::chrono::milliseconds(0)));
  world.run_for(std::chrono::seconds(1));
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(wire::decode<wire::MadHeader>(answers[0].bytes)->tid.value() & 0xFFFF'FFFFU, 9U);
}

TEST_F(Forwarding, SpareBytesNeverHurt) {
  auto raw = world.transport({"h0"});
  for (const std::size_t size : {0U, 1U, 23U, 24U, 64U, 255U, 4096U}) {
    const std::vector<std::uint8_t> bytes(size, 0xFF);
    EXPECT_TRUE(raw->send(bytes, path({1}), std::chrono::seconds(1)));
    EXPECT_TRUE(raw->send(bytes, mad::LidRoute{.lid = Lid{0xFFFF}}, std::chrono::seconds(1)));
  }
  world.run_for(std::chrono::seconds(1));
  EXPECT_TRUE(asker.get<wire::NodeInfo>(leaf0).good());
}

}  // namespace
}  // namespace smd::test
