// SPDX-License-Identifier: Apache-2.0
// Commands as text: what they do, and what is said of those that cannot be done.
#include "mad/sim/console/control.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "mad/wire/modifier.h"
#include "tests/support/sim_lab.h"

namespace smd::test {
namespace {

struct Control : testing::Test {
  sim::World world{two_leaves()};
  Asker asker{world};

  std::string says(std::string_view command) {
    const auto result = sim::control(world.fabric(), command);
    return result ? *result : "error: " + result.error();
  }
  PortState state(const char* node) { return world.fabric().port_info({node})->port_state; }
};

TEST_F(Control, LinksGoDownUpAndFlap) {
  EXPECT_EQ(says("link down leaf1 1"), "");
  EXPECT_EQ(state("h1"), PortState::down);
  EXPECT_EQ(says("link up leaf1 1"), "");
  world.run_for(std::chrono::milliseconds(2));
  EXPECT_EQ(state("h1"), PortState::init);
  EXPECT_EQ(says("link down leaf1 4"),
            "error: found port 4 of leaf1 without a cable, allowed a port that has one");
  EXPECT_EQ(says("link break leaf1 1"), "error: found link \"break\", allowed down, up or flap");
}

TEST_F(Control, NodesFailAndAreRestored) {
  EXPECT_EQ(says("node silent h1"), "");
  EXPECT_TRUE(asker.get<wire::NodeInfo>(path({1, 3, 2, 1})).none());
  EXPECT_EQ(says("node restore h1"), "");
  EXPECT_TRUE(asker.get<wire::NodeInfo>(path({1, 3, 2, 1})).good());
  EXPECT_EQ(says("node slow 2000 0x5000"), "");
  EXPECT_TRUE(asker.get<wire::NodeInfo>(path({1, 3, 2, 1})).none());
  EXPECT_EQ(says("node remove h1"), "");
  EXPECT_EQ(says("node restore h1"), "");
  EXPECT_EQ(says("node reboot \"leaf 9\""),
            "error: found node \"leaf 9\", allowed a name, an id or a GUID (0x…) of this fabric");
}

TEST_F(Control, ReachCountsThePairsThatCablesJoin) {
  EXPECT_EQ(says("reach").substr(0, 20), "pairs 6 delivered 0\n");
  bring_up_two_leaves(asker);
  EXPECT_EQ(says("reach"), "pairs 6 delivered 6");
  EXPECT_EQ(says("link down leaf1 1"), "");
  EXPECT_EQ(says("reach"), "pairs 2 delivered 2");
  EXPECT_EQ(says("reach h1"), "pairs 0 delivered 0");
  EXPECT_EQ(says("reach nobody"),
            "error: found node \"nobody\", allowed a name, an id or a GUID (0x…) of this fabric");
}

TEST_F(Control, EndsAreNamedByPortOrLid) {
  bring_up_two_leaves(asker);
  const auto way = says("flow h0 h1 0 0xffff");
  EXPECT_TRUE(way.find("[1]h1: delivered\nh0 port 1 VL 0\n") != std::string::npos) << way;
  EXPECT_EQ(says("flow h0:1 h1:1 0 0xffff"), way);
  EXPECT_EQ(says("flow h0 2 0 0xffff"), way);
  EXPECT_EQ(says("flow leaf0:3 h1 0 0xffff"),
            "error: found end \"leaf0:3\", allowed a node with a cable, or NODE:PORT of an adapter's port");
  EXPECT_TRUE(says("packet h0 h1 0 0xffff 5").find("the queue pair has another Q_Key") != std::string::npos);
  EXPECT_EQ(says("node name h2 h1"), "");
  EXPECT_EQ(says("show h1"),
            "error: found node \"h1\", allowed the id or GUID (0x…) of one: several have this name");
}

TEST_F(Control, DataPacketsAreArbitrated) {
  bring_up_two_leaves(asker);
  const auto text = says("arbitrate packets 600 flow h1 h0 0 0xffff flow h2 1 1 0xffff size 1024");
  EXPECT_EQ(text.substr(0, 11), "counted in ");
  EXPECT_NE(text.find("\nflow h1 LID 1 SL 0: "), std::string::npos) << text;
  EXPECT_NE(text.find("\nlink spine port 1 VL 1: "), std::string::npos) << text;
  const auto json = says(
      "arbitrate json packets 600 warmup 0 buffer 4 delay 10 blocked h0 vl 1 flow h1 h0 0 0xffff "
      "rate 5000 flow h2 h0 1 0xffff");
  EXPECT_EQ(json.substr(0, 23), R"({"ending":"counted","el)");
  EXPECT_NE(json.find(R"({"node":"leaf0","port":1,"vl":1})"), std::string::npos) << json;
}

TEST_F(Control, WrongWordsOfArbitrateAreNamed) {
  const auto form =
      "'arbitrate [packets N] [warmup N] [buffer N] [delay NS] [json] [blocked END [vl VL]]… flow SRC DST "
      "SL PKEY [size BYTES] [rate MBPS]…'";
  EXPECT_EQ(says("arbitrate"), std::string("error: found no flow, allowed ") + form);
  EXPECT_EQ(says("arbitrate fast"), std::string("error: found word \"fast\", allowed ") + form);
  EXPECT_EQ(says("arbitrate packets 0"), "error: found packets \"0\", allowed 1 to 10000000");
  EXPECT_EQ(says("arbitrate buffer"), "error: found no packets, allowed 1 to 1024");
  EXPECT_EQ(says("arbitrate blocked h0 vl 15"), "error: found VL \"15\", allowed 0 to 14");
  EXPECT_EQ(says("arbitrate flow h0 h1 16 0xffff"), "error: found SL \"16\", allowed 0 to 15");
  EXPECT_EQ(says("arbitrate flow h0 h1 0"), "error: found no P_Key, allowed 0 to 65535 (0xffff)");
  EXPECT_EQ(says("arbitrate flow h0 h1 0 0xffff size 5000"), "error: found size \"5000\", allowed 1 to 4096");
  EXPECT_EQ(says("arbitrate flow h9 h1 0 0xffff"),
            "error: found end \"h9\", allowed a node with a cable, NODE:PORT of an adapter's port, or a LID "
            "up to 49151 "
            "(0xbfff)");
}

TEST_F(Control, KeysAndLidsAreThoseOfEndPorts) {
  EXPECT_EQ(says("mkey h1 1 0x77 2"), "");
  EXPECT_EQ(says("mkey h1 1 0x78"), "");
  EXPECT_EQ(world.fabric().port_info({"h1"})->m_key_protect, 2);
  EXPECT_EQ(says("mkey h1 1 0x78 4"), "error: found protection level \"4\", allowed 0 to 3");
  EXPECT_EQ(says("mkey leaf0 2 1"),
            "error: found 1 for port 2 of leaf0, allowed 0 to 0xffffffffffffffff, for an adapter's port or a "
            "switch's port 0");
  EXPECT_EQ(says("lid leaf0 0 7"), "");
}

TEST_F(Control, ValuesAreCheckedWithWhatIsAllowed) {
  EXPECT_EQ(says("loss 101"), "error: found loss \"101\", allowed 0 to 100 percent");
  EXPECT_EQ(says("lid h1 1 0xC000"),
            "error: found value \"0xC000\", allowed 0 to 49151 (0xbfff), for an adapter's port or a switch's "
            "port 0");
  EXPECT_EQ(says("lid h1 2 7"), "error: found port of h1 \"2\", allowed 1");
  EXPECT_EQ(says("lid h1 1"), "error: found 3 words, allowed 'lid NODE PORT LID'");
  EXPECT_EQ(says("join now"), "error: found 2 words, allowed 'join'");
  EXPECT_EQ(says("node silent \"h1"), "error: found a quotation mark without its end, allowed \"NAME\"");
  EXPECT_EQ(says(""),
            "error: found no command, allowed link, node, loss, latency, counter, lid, mkey, pkey, move, "
            "split, join, "
            "capability, trap, flow, packet, smp, reach, show, clients, enforce, adaptive, arbitrate, help");
}

TEST_F(Control, ValuesChangeBehindTheSmsBack) {
  EXPECT_EQ(says("lid h1 1 77"), "");
  EXPECT_EQ(says("mkey h1 1 0x1234"), "");
  EXPECT_EQ(says("pkey h1 1 0x8001"), "");
  EXPECT_EQ(world.fabric().port_info({"h1"})->lid, Lid{77});
  EXPECT_EQ(world.fabric().port_info({"h1"})->m_key, 0x1234U);
  EXPECT_EQ(asker.get<wire::PKeyTable>(path({1, 3, 2, 1}), 0).value.keys[0], PKey{0x8001});
}

TEST_F(Control, NodesDoAndShowWhatTheyAreTold) {
  EXPECT_EQ(says("node answers h1 NodeInfo 0x10"), "");
  EXPECT_TRUE(asker.get<wire::NodeInfo>(path({1, 3, 2, 1})).good());
  EXPECT_TRUE(asker.get<wire::PortInfo>(path({1, 3, 2, 1}), 1).none());
  EXPECT_EQ(says("node restore h1"), "");
  EXPECT_EQ(says("node refuses h1 SLtoVLMappingTable 7"), "");
  EXPECT_EQ(asker.set(path({1, 3, 2, 1}), wire::SlToVl{}).status, 7);
  EXPECT_EQ(
      says("node refuses h1 Nothing 7"),
      "error: found attribute \"Nothing\", allowed the name of an SMP attribute, as PortInfo, or 0 to 65535");
  EXPECT_EQ(says("node forgets spine SwitchInfo LifeTimeValue"), "");
  EXPECT_EQ(says("node forgets spine SwitchInfo HOQLife"),
            "error: found field \"HOQLife\", allowed a field of PortInfo, SwitchInfo or ARInfo, as smpquery "
            "names it, or of a "
            "forwarding table a LID or all");
  EXPECT_EQ(says("node forgets spine LinearForwardingTable 17"), "");
  EXPECT_EQ(says("node forgets spine MulticastForwardingTable all"), "");
  EXPECT_EQ(says("node abovetop spine refused"), "");
  EXPECT_EQ(says("node abovetop spine sometimes"),
            "error: found answer \"sometimes\", allowed accepted, ignored or refused");
  EXPECT_EQ(says("show spine").find("refuses LFT blocks above LinearFDBTop") != std::string::npos, true);
  const auto speeds = [this] {
    return asker.get<wire::PortInfo>(path({1, 3, 2, 2}), wire::port_info_modifier(PortNum{1}, true));
  };
  EXPECT_EQ(says("node bit31 h2 refused"), "");
  EXPECT_EQ(speeds().status, wire::kStatusBadField);
  EXPECT_EQ(says("node bit31 h2 refused 0x0c"), "");
  EXPECT_EQ(speeds().status, wire::kStatusBadMethodAttribute);
  EXPECT_EQ(says("node bit31 h2 ignored"), "");
  EXPECT_TRUE(speeds().none());
  EXPECT_EQ(says("node bit31 h2 accepted"), "");
  EXPECT_TRUE(speeds().good());
  EXPECT_EQ(says("node bit31 h2 never"),
            "error: found answer \"never\", allowed accepted, ignored or refused");
  EXPECT_EQ(says("node name h1 \"new name\""), "");
  EXPECT_EQ(asker.get<wire::NodeDescription>(path({1, 3, 2, 1})).value.text, "new name");
  EXPECT_EQ(says("node guid h2 0x5000"), "");
  EXPECT_EQ(says("node image h2 0x9"), "");
  const auto h2 = asker.get<wire::NodeInfo>(path({1, 3, 2, 2})).value;
  EXPECT_EQ(h2.node, Guid{0x5000});
  EXPECT_EQ(h2.system_image, Guid{9});
  EXPECT_EQ(says("node fdbcap spine 100"), "");
  EXPECT_EQ(says("node fdbcap h2 100"), "error: found node \"h2\", allowed a switch");
  EXPECT_EQ(says("node reboot spine 0.5"), "");
  EXPECT_TRUE(asker.get<wire::NodeInfo>(path({1, 3})).none());
  EXPECT_TRUE(asker.get<wire::NodeInfo>(path({1, 3})).good());  // a second later
}

TEST_F(Control, CountersKeysAndPacketsMakeTraps) {
  bring_up_two_leaves(asker);
  const auto raises = [&](unsigned trap, std::string_view command, std::string_view answer = "") {
    asker.inbox.clear();
    EXPECT_EQ(says(command), answer);
    world.run_for(std::chrono::milliseconds(150));
    const auto traps = asker.came(wire::Method::trap);
    return std::ranges::any_of(traps,
                               [&](const auto& t) { return t.template get<wire::Notice>().trap == trap; });
  };
  EXPECT_EQ(says("counter h1 1 SymbolErrorCounter 5"), "");
  EXPECT_TRUE(raises(129, "counter h1 1 LocalLinkIntegrityErrors 5"));
  EXPECT_TRUE(raises(131, "trap spine 1 131"));
  EXPECT_TRUE(raises(144, "capability h2 1 0x4"));
  EXPECT_EQ(says("mkey h0 1 0x7"), "");
  EXPECT_TRUE(raises(256, "smp h0 1 0x8"));
  EXPECT_TRUE(raises(258, "packet h0 leaf1 0 0xFFFF 7",
                     "h0[1] -> [1]leaf0[3] -> [1]spine[2] -> [3]leaf1: the queue pair has another Q_Key\n"
                     "h0 port 1 VL 0\nleaf0 port 3 VL 0\nspine port 2 VL 0"));
  EXPECT_EQ(says("counter h1 1 SymbolErrorCounter 10/s"), "");
  world.run_for(std::chrono::seconds(1));
  EXPECT_NE(says("show h1 1").find("SymbolErrorCounter 15"), std::string::npos);
  EXPECT_EQ(says("counter h1 1 Errors 1").substr(0, 43), "error: found counter \"Errors\", allowed Symb");
  EXPECT_EQ(
      says("trap h1 1 128"),
      "error: found 128 for port 1 of h1, allowed 129, 130 or 131; the others come from what they tell of");
}

TEST_F(Control, AFlowSaysItsWayAndItsLanes) {
  bring_up_two_leaves(asker);
  EXPECT_EQ(says("flow h0 h1 2 0xFFFF"),
            "h0[1] -> [1]leaf0[3] -> [1]spine[2] -> [3]leaf1[1] -> [1]h1: delivered\n"
            "h0 port 1 VL 2\nleaf0 port 3 VL 2\nspine port 2 VL 2\nleaf1 port 1 VL 2");
  EXPECT_EQ(says("flow h0 h1 2 0x8001"), "h0: P_Key 0x8001 is not in the P_Key table of h0 port 1");
}

TEST_F(Control, ShowAndClientsTellWhatIs) {
  EXPECT_EQ(says("show h1 1"),
            "0x0000000000005000 h1 port 1: Init lid 0 4x EDR -> 0x0000000000003000 leaf1 port 1");
  EXPECT_EQ(says("clients"), "1 0x0000000000004000 h0 port 1 sent 0 received 0");
}

TEST_F(Control, CablesMoveAndFabricsSplit) {
  EXPECT_EQ(says("move leaf1 1 leaf0 2"), "");
  EXPECT_EQ(
      says("move leaf1 1 leaf0 4"),
      "error: found a move from leaf1 1 to leaf0 4, allowed from a port with a cable to a port without one");
  EXPECT_EQ(says("split spine leaf1 h2"), "");
  EXPECT_EQ(state("h2"), PortState::init);
  EXPECT_TRUE(asker.get<wire::NodeInfo>(path({1, 3})).none());
  EXPECT_EQ(says("join"), "");
}

TEST_F(Control, WhatIsShownOfAWrongWordIsOneLine) {
  EXPECT_EQ(says("show \"a\nb\x1b[2J\""),
            "error: found node \"a?b?[2J\", allowed a name, an id or a GUID (0x…) of this fabric");
  EXPECT_EQ(says("flow h0 70000 0 0xffff"),
            "error: found end \"70000\", allowed a node with a cable, NODE:PORT of an adapter's port, or a "
            "LID up to "
            "49151 (0xbfff)");
}

TEST_F(Control, NumbersAreRefusedWithTheirLimits) {
  EXPECT_EQ(says("node slow 1e10 h1"), "error: found delay \"1e10\", allowed 0 to 1000000000 milliseconds");
  EXPECT_EQ(says("node reboot h1 -1"), "error: found time \"-1\", allowed 0 to 1000000 seconds");
  EXPECT_EQ(says("latency 5e9"), "error: found latency \"5e9\", allowed 0 to 1000000000 microseconds");
  EXPECT_EQ(says("latency 5e6 h1 1"), "error: found latency \"5e6\", allowed 0 to 4294967 microseconds");
  EXPECT_EQ(says("link flap h1 1 0"), "error: found time \"0\", allowed 0.001 to 1000000 seconds");
  EXPECT_EQ(says("flow h0 h1 16 0xffff"), "error: found SL \"16\", allowed 0 to 15");
  EXPECT_EQ(says("counter h1 1 SymbolErrorCounter x"),
            "error: found value \"x\", allowed 0 to 0xffffffffffffffff, or a rate with /s");
}

TEST_F(Control, ALinkFlapsUntilItIsToldOtherwise) {
  EXPECT_EQ(says("link flap leaf1 1 2"), "");
  EXPECT_EQ(state("h1"), PortState::down);
  EXPECT_NE(says("show h1 1").find("[cut, flaps every 2 s]"), std::string::npos) << says("show h1 1");
  world.run_for(std::chrono::seconds(3));
  EXPECT_EQ(state("h1"), PortState::init);
  world.run_for(std::chrono::seconds(2));
  EXPECT_EQ(state("h1"), PortState::down);
  EXPECT_EQ(says("link up h1 1"), "");
  world.run_for(std::chrono::seconds(9));
  EXPECT_EQ(state("h1"), PortState::init);
  EXPECT_EQ(says("show"), "everywhere: [a hop takes 0.5 us, an agent takes 10 us]");
  world.fabric().faults().latency({});
  EXPECT_EQ(says("show"), "no faults active");
}

TEST_F(Control, ShowTellsWhatIsInForce) {
  for (const auto* command :
       {"node silent h1", "node slow 250 h1", "loss 2.5 h1", "node refuses h1 PortInfo 7",
        "node forgets h1 PortInfo LMC", "loss 10 leaf1 1", "latency 50 h1 1", "mkey h1 1 0x77 2",
        "pkey h1 1 0x8001", "counter h1 1 SymbolErrorCounter 5/s", "loss 1", "latency 3",
        "node answers h2 NodeInfo", "node reboot spine 30", "split h2"}) {
    EXPECT_EQ(says(command), "") << command;
  }
  EXPECT_EQ(says("show h1"),
            "0x0000000000005000 h1: [silent, slow 250 ms, loss 2.5 %, refuses Sets of PortInfo with 0x07, "
            "forgets LMC of PortInfo]\n"
            "0x0000000000005000 h1 port 1: Init lid 0 4x EDR -> 0x0000000000003000 leaf1 port 1 "
            "[loss 10 %, latency 50 us, M_Key 0x77 level 2, P_Key[0] 0x8001, SymbolErrorCounter grows 5/s]");
  const auto all = says("show");
  for (const auto* line :
       {"everywhere: [loss 1 % of all MADs, a hop takes 3 us, an agent takes 10 us]\n",
        "0x0000000000002000 spine: [away, back in 30 s]\n",
        "0x0000000000001000 leaf0 port 3: [other end away]\n",
        "0x0000000000003000 leaf1 port 1: [loss 10 %, latency 50 us]\n",
        "0x0000000000003000 leaf1 port 2: [split]\n", "0x0000000000006000 h2: [answers only NodeInfo]\n"}) {
    EXPECT_NE(all.find(line), std::string::npos) << line << " in\n" << all;
  }
}

TEST(Script, LinesAreSortedByTimeAndKeepTheirNumbers) {
  sim::Fabric fabric(two_leaves());
  const auto script =
      sim::read_script("# a comment\n\n 2  node reboot spine\r\n0.5 link down leaf1 1\n", "s", fabric);
  ASSERT_TRUE(script);
  ASSERT_EQ(script->size(), 2U);
  EXPECT_EQ((*script)[0].at, std::chrono::milliseconds(500));
  EXPECT_EQ((*script)[0].command, "link down leaf1 1");
  EXPECT_EQ((*script)[0].line, 4U);
  EXPECT_EQ((*script)[1].command, "node reboot spine");
}

TEST(Script, EveryWrongLineIsKnownBeforeAnythingBegins) {
  sim::Fabric fabric(two_leaves());
  const auto wrong = sim::read_script(
      "x join\n1\n9 link down nosuch 1\n2 link down h1 7\n3 lonk up h1 1\n4 node silent h1\n5 loss 200\n",
      "s", fabric);
  ASSERT_FALSE(wrong);
  ASSERT_EQ(wrong.error().size(), 6U);
  EXPECT_EQ(wrong.error()[0], "s:1: found time \"x\", allowed 0 to 1000000000 seconds");
  EXPECT_EQ(wrong.error()[1], "s:2: found a time without a command, allowed SECONDS COMMAND");
  EXPECT_EQ(wrong.error()[2],
            "s:3: found node \"nosuch\", allowed a name, an id or a GUID (0x…) of this fabric");
  EXPECT_EQ(wrong.error()[3], "s:4: found port of h1 \"7\", allowed 1");
  EXPECT_EQ(wrong.error()[4].substr(0, 39), "s:5: found command \"lonk\", allowed link");
  EXPECT_EQ(wrong.error()[5], "s:7: found loss \"200\", allowed 0 to 100 percent");
}

TEST(Script, WhatALineChangesCountsForThoseAfterIt) {
  sim::Fabric fabric(two_leaves());
  EXPECT_TRUE(
      sim::read_script("2 link down fresh 1\n1 node name h1 fresh\n3 move leaf1 1 leaf0 2\n"
                       "4 link up leaf0 2\n",
                       "s", fabric));
}

}  // namespace
}  // namespace smd::test
