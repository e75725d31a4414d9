// SPDX-License-Identifier: Apache-2.0
// Commands as text: what they do, and what is said of those that cannot be done.
#include "mad/sim/control.h"

#include <gtest/gtest.h>

#include <algorithm>

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
  EXPECT_EQ(says("link down leaf1 4"), "error: port 4 of leaf1 is without a cable: a port that has one");
  EXPECT_EQ(says("link break leaf1 1"), "error: what to do with the link is break: down, up or flap");
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
            "error: the node is leaf 9: a name, an id or a GUID (0x…) of this fabric");
}

TEST_F(Control, EndsAreNamedByPortOrLid) {
  bring_up_two_leaves(asker);
  const auto way = says("flow h0 h1 0 0xffff");
  EXPECT_TRUE(way.find("[1]h1: delivered\nh0 port 1 VL 0\n") != std::string::npos) << way;
  EXPECT_EQ(says("flow h0:1 h1:1 0 0xffff"), way);
  EXPECT_EQ(says("flow h0 2 0 0xffff"), way);
  EXPECT_EQ(says("flow leaf0:3 h1 0 0xffff"),
            "error: the end is leaf0:3: a node with a cable, or NODE:PORT of an adapter's port");
  EXPECT_TRUE(says("packet h0 h1 0 0xffff 5").find("the queue pair has another Q_Key") != std::string::npos);
  EXPECT_EQ(says("node name h2 h1"), "");
  EXPECT_EQ(says("show h1"), "error: the node is h1: several have this name: the id or GUID (0x…) of one");
}

TEST_F(Control, KeysAndLidsAreThoseOfEndPorts) {
  EXPECT_EQ(says("mkey h1 1 0x77 2"), "");
  EXPECT_EQ(says("mkey h1 1 0x78"), "");
  EXPECT_EQ(world.fabric().port_info({"h1"})->m_key_protect, 2);
  EXPECT_EQ(says("mkey h1 1 0x78 4"), "error: the protection level is 4: 0 to 3");
  EXPECT_EQ(says("mkey leaf0 2 1"),
            "error: the port is leaf0 2: a number of 64 bits, of an adapter's port or a switch's port 0");
  EXPECT_EQ(says("lid leaf0 0 7"), "");
}

TEST_F(Control, ValuesAreCheckedWithWhatIsAllowed) {
  EXPECT_EQ(says("loss 101"), "error: the loss is 101: a percentage from 0 to 100");
  EXPECT_EQ(says("lid h1 1 0xC000"),
            "error: the value is 0xC000: a LID from 0 to 49151, of an adapter's port or a switch's port 0");
  EXPECT_EQ(says("lid h1 2 7"), "error: the port of h1 is 2: the number of a port that it has");
  EXPECT_EQ(says("lid h1 1"), "error: 3 words: the form is 'lid NODE PORT LID'");
  EXPECT_EQ(says("join now"), "error: 2 words: the form is 'join'");
  EXPECT_EQ(says("node silent \"h1"), "error: a quotation mark without its end");
  EXPECT_EQ(says(""),
            "error: the command is missing: link, node, loss, latency, counter, lid, mkey, pkey, move, "
            "split, join, "
            "capability, trap, flow, packet, smp, show, clients, help");
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
  EXPECT_EQ(says("node refuses h1 Nothing 7"),
            "error: the attribute is Nothing: the name of an SMP attribute, as PortInfo, or its number");
  EXPECT_EQ(says("node forgets spine SwitchInfo LifeTimeValue"), "");
  EXPECT_EQ(says("node forgets spine SwitchInfo HOQLife"),
            "error: the field is HOQLife: a field of PortInfo or SwitchInfo, as smpquery names it");
  EXPECT_EQ(says("node name h1 \"new name\""), "");
  EXPECT_EQ(asker.get<wire::NodeDescription>(path({1, 3, 2, 1})).value.text, "new name");
  EXPECT_EQ(says("node guid h2 0x5000"), "");
  EXPECT_EQ(says("node image h2 0x9"), "");
  const auto h2 = asker.get<wire::NodeInfo>(path({1, 3, 2, 2})).value;
  EXPECT_EQ(h2.node, Guid{0x5000});
  EXPECT_EQ(h2.system_image, Guid{9});
  EXPECT_EQ(says("node fdbcap spine 100"), "");
  EXPECT_EQ(says("node fdbcap h2 100"), "error: the node is h2: a switch");
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
  EXPECT_EQ(says("counter h1 1 Errors 1").substr(0, 34), "error: the counter is Errors: Symb");
  EXPECT_EQ(says("trap h1 1 128"),
            "error: the port is h1 1: 129, 130 or 131; the others come from what they tell of");
}

TEST_F(Control, AFlowSaysItsWayAndItsLanes) {
  bring_up_two_leaves(asker);
  EXPECT_EQ(says("flow h0 h1 2 0xFFFF"),
            "h0[1] -> [1]leaf0[3] -> [1]spine[2] -> [3]leaf1[1] -> [1]h1: delivered\n"
            "h0 port 1 VL 2\nleaf0 port 3 VL 2\nspine port 2 VL 2\nleaf1 port 1 VL 2");
  EXPECT_EQ(says("flow h0 h1 2 0x8001"), "h0: the partition is not there, at h0 port 1");
}

TEST_F(Control, ShowAndClientsTellWhatIs) {
  EXPECT_EQ(says("show h1 1"),
            "0x0000000000005000 h1 port 1: Init lid 0 4x EDR -> 0x0000000000003000 leaf1 port 1");
  EXPECT_EQ(says("clients"), "1 0x0000000000004000 h0 port 1 sent 0 received 0");
}

TEST_F(Control, CablesMoveAndFabricsSplit) {
  EXPECT_EQ(says("move leaf1 1 leaf0 2"), "");
  EXPECT_EQ(says("move leaf1 1 leaf0 4"),
            "error: the move is from leaf1 1 to leaf0 4: from a port with a cable to a port without one");
  EXPECT_EQ(says("split spine leaf1 h2"), "");
  EXPECT_EQ(state("h2"), PortState::init);
  EXPECT_TRUE(asker.get<wire::NodeInfo>(path({1, 3})).none());
  EXPECT_EQ(says("join"), "");
}

TEST(Script, LinesHaveTimesAndErrorsHaveLines) {
  const auto script = sim::read_script("# a comment\n\n0.5 link down leaf1 1\n 2  node reboot spine\n", "s");
  ASSERT_TRUE(script);
  ASSERT_EQ(script->size(), 2U);
  EXPECT_EQ((*script)[0].at, std::chrono::milliseconds(500));
  EXPECT_EQ((*script)[0].command, "link down leaf1 1");
  const auto wrong = sim::read_script("x join\n1\n", "s");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error(), (std::vector<std::string>{"s:1: x join: SECONDS COMMAND is needed",
                                                     "s:2: 1: SECONDS COMMAND is needed"}));
}

}  // namespace
}  // namespace smd::test
