// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "mad/base/fabric_file.h"
#include "mad/base/fabric_spec.h"
#include "mad/base/random.h"
#include "mad/base/spec/suffixes.h"

namespace smd::base {
namespace {

Fabric make(const std::string& spec) {
  auto fabric = make_fabric(spec);
  if (!fabric) ADD_FAILURE() << fabric.error();
  return fabric.value_or(Fabric{});
}

std::string error_of(std::string_view spec) {
  const auto fabric = make_fabric(spec);
  return fabric ? "no error" : fabric.error();
}

bool is_switch(const FabricNode& node) { return node.type == NodeType::switch_; }

std::size_t cables_between_switches(const Fabric& fabric) {
  std::size_t ends = 0;
  for (const auto& node : fabric.nodes) {
    for (const auto& port : node.ports) {
      ends += is_switch(node) && port.peer && is_switch(fabric.nodes[port.peer->node]) ? 1 : 0;
    }
  }
  return ends / 2;
}

/// By name of the node each port's peer, with its speed: all that a permutation of GUIDs and nodes keeps.
using Cabling = std::map<std::string, std::vector<std::tuple<std::string, PortNum, LinkSpeed>>>;

Cabling cabling(const Fabric& fabric) {
  Cabling result;
  for (const auto& node : fabric.nodes) {
    auto& ports = result[node.name];
    for (const auto& port : node.ports) {
      if (!port.peer) {
        ports.emplace_back("", PortNum{0}, LinkSpeed::unknown);
      } else {
        ports.emplace_back(fabric.nodes[port.peer->node].name, port.peer->port, port.rate.speed);
      }
    }
  }
  return result;
}

/// A number that depends on every field of the fabric.
std::uint64_t hash(const Fabric& fabric) {
  std::uint64_t value = 0;
  for (const char c : write_fabric(fabric)) value = splitmix64(value ^ static_cast<unsigned char>(c));
  return value;
}

/// GUIDs of nodes and of ports of CAs are there once (an aggregation node's port has that of its node), and
/// links are symmetric.
void expect_sound(const Fabric& fabric, std::string_view spec) {
  std::set<Guid> guids;
  std::set<std::string> ids;
  for (NodeIndex i = 0; i < fabric.nodes.size(); ++i) {
    const auto& node = fabric.nodes[i];
    EXPECT_TRUE(guids.insert(node.guid).second) << spec;
    EXPECT_TRUE(ids.insert(node.id).second) << spec;
    for (std::uint8_t p = 1; p <= node.port_count(); ++p) {
      const auto guid = port_guid(node, PortNum{p});
      if (!is_switch(node) && guid != node.guid) EXPECT_TRUE(guids.insert(guid).second) << spec;
      const auto& peer = node.ports[p].peer;
      if (!peer) continue;
      EXPECT_EQ(fabric.nodes.at(peer->node).ports.at(peer->port.value()).peer, (Peer{i, PortNum{p}})) << spec;
      EXPECT_EQ(fabric.nodes[peer->node].ports[peer->port.value()].rate, node.ports[p].rate) << spec;
    }
  }
}

class EverySuffix : public testing::TestWithParam<std::string> {};

TEST_P(EverySuffix, IsSoundDeterministicAndSurvivesItsFile) {
  const auto fabric = make(GetParam());
  const auto text = write_fabric(fabric);
  const auto again = read_fabric(text, GetParam());

  expect_sound(fabric, GetParam());
  EXPECT_EQ(make(GetParam()), fabric);
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ(write_fabric(*again), text);
}

std::vector<std::string> all_with_suffixes() {
  std::vector<std::string> specs;
  for (const std::string plain :
       {"ft2:8", "ft3:6", "torus:4x3:1", "mesh:3x3:2", "hyperx:3x3:1", "dragonfly:3:1",
        "dragonflyplus:3:2:2:2", "random:9:3:2:5", "xgft:2;4,4;2,2;2,1", "rails:8:4:3:4", "chassis:6:4:4:2",
        "chassis:7:5:3:2:2:2", "chassis:2:1:1:1", "fullcore:3:2:2:3:4"}) {
    for (const std::string suffixes : {"", "+guids=0", "+an", "+cut=10:3", "+speeds=EDR,HDR:1",
                                       "+guids=7+an+cut=2.5:1+speeds=EDR,NDR,XDR:9"}) {
      specs.push_back(plain + suffixes);
    }
  }
  return specs;
}

INSTANTIATE_TEST_SUITE_P(Base, EverySuffix, testing::ValuesIn(all_with_suffixes()));

TEST(SpecSuffixes, TheSameSeedGivesTheSameFabricOnEveryMachine) {
  EXPECT_EQ(hash(make("ft2:8+guids=1")), 3991853034528082528U);
  EXPECT_EQ(hash(make("ft3:6+an+cut=5:2+speeds=EDR,HDR:3+guids=4")), 14528423873312549343U);
}

TEST(SpecSuffixes, TheOrderOfSuffixesDoesNotMatter) {
  EXPECT_EQ(make("ft3:6+guids=4+speeds=EDR,HDR:3+cut=5:2+an"),
            make("ft3:6+an+cut=5:2+speeds=EDR,HDR:3+guids=4"));
}

TEST(SpecSuffixes, RandomGuidsKeepNamesPortsAndCabling) {
  for (const std::string plain :
       {"ft3:6", "rails:8:4:3:4", "torus:4x3:2", "chassis:6:4:4:2", "random:20:3:1:1"}) {
    EXPECT_EQ(cabling(make(plain + "+guids=1")), cabling(make(plain)));
    EXPECT_EQ(cabling(make(plain + "+cut=10:1+guids=1")), cabling(make(plain + "+cut=10:1")));
  }
}

TEST(SpecSuffixes, RandomGuidsFollowTheirSeedAndTheFieldsPattern) {
  const auto one = make("ft3:6+guids=1"), other = make("ft3:6+guids=2");
  std::set<Guid> common;
  for (const auto& node : one.nodes) common.insert(node.guid);
  std::size_t kept = 0, ascending = 0;
  for (const auto& node : other.nodes) kept += common.contains(node.guid) ? 1 : 0;
  for (std::size_t i = 1; i < one.nodes.size(); ++i)
    ascending += one.nodes[i - 1].guid < one.nodes[i].guid ? 1 : 0;

  EXPECT_EQ(kept, 0U);
  EXPECT_GT(ascending, one.nodes.size() / 4);
  EXPECT_LT(ascending, one.nodes.size() * 3 / 4);
  for (const auto& node : one.nodes) {
    EXPECT_EQ(node.guid.value() & 0xffffffff0000000fU, 0x900a840300000000U);
    EXPECT_EQ(node.id.substr(2), fmt::format("{:016x}", node.guid.value()));
  }
}

TEST(SpecSuffixes, NodesStandInTheOrderInWhichAHostMeetsThem) {
  const auto fabric = make("ft3:8+guids=3");
  const auto first_host = std::ranges::find(fabric.nodes, NodeType::ca, &FabricNode::type);
  const auto start = static_cast<NodeIndex>(first_host - fabric.nodes.begin());
  ASSERT_EQ(start, 80U) << "switches come first";
  std::vector<NodeIndex> switches, hosts{start};
  std::set<NodeIndex> known{start};
  const auto meet = [&](NodeIndex at) {
    for (const auto& port : fabric.nodes[at].ports) {
      if (!port.peer || !known.insert(port.peer->node).second) continue;
      (is_switch(fabric.nodes[port.peer->node]) ? switches : hosts).push_back(port.peer->node);
    }
  };
  meet(start);
  for (std::size_t i = 0; i < switches.size(); ++i) meet(switches[i]);

  EXPECT_TRUE(std::ranges::is_sorted(switches));
  EXPECT_EQ(switches.size(), 80U);
  EXPECT_TRUE(std::ranges::is_sorted(hosts));
  EXPECT_EQ(hosts.size(), 128U);
}

TEST(SpecSuffixes, AdaptersOfAMachineAndBoardsOfAChassisStayTogether) {
  const auto images = [](const Fabric& fabric) {
    std::map<Guid, std::set<std::string>> by_image;
    for (const auto& node : fabric.nodes) by_image[node.system_image].insert(node.name);
    std::set<std::set<std::string>> sets;
    for (const auto& [image, names] : by_image) sets.insert(names);
    return sets;
  };
  for (const std::string plain : {"rails:8:4:3:4", "chassis:6:4:4:2:1:2"}) {
    EXPECT_EQ(images(make(plain + "+guids=5")), images(make(plain)));
  }
  EXPECT_EQ(images(make("chassis:6:4:4:2:1:2")).size(), 6U + 24U + 2U);
}

TEST(SpecSuffixes, AggregationNodesAreAtThePortBehindTheExternalOnes) {
  for (const auto& [plain, port] : std::vector<std::pair<std::string, unsigned>>{
           {"ft2:8", 41}, {"ft2:40", 41}, {"ft2:42", 65}, {"ft2:64", 65}, {"ft2:66", 67}}) {
    const auto without = make(plain), fabric = make(plain + "+an");
    std::size_t switches = 0;
    for (const auto& node : fabric.nodes) {
      if (!is_switch(node)) continue;
      ++switches;
      EXPECT_EQ(node.port_count(), port);
      const auto& an = fabric.nodes.at(node.ports[port].peer.value().node);
      EXPECT_EQ(an.name, "Mellanox Technologies Aggregation Node");
      EXPECT_EQ(an.guid.value(), node.guid.value() + 8);
      EXPECT_EQ(port_guid(an, PortNum{1}), an.guid);
      EXPECT_EQ(an.system_image, node.system_image);
    }
    EXPECT_EQ(fabric.nodes.size(), without.nodes.size() + switches);
    for (std::size_t i = 0; i < without.nodes.size(); ++i)
      EXPECT_EQ(fabric.nodes[i].name, without.nodes[i].name);
  }
}

TEST(SpecSuffixes, AnAggregationNodeKeepsItsPlaceWithRandomGuids) {
  const auto fabric = make("ft2:8+an+guids=9");
  std::size_t found = 0;
  for (const auto& node : fabric.nodes) {
    if (node.name.find("Aggregation") == std::string::npos) continue;
    ++found;
    const auto& sw = fabric.nodes[node.ports[1].peer.value().node];
    EXPECT_EQ(node.guid.value(), sw.guid.value() + 8);
    EXPECT_EQ(node.system_image, sw.system_image);
  }
  EXPECT_EQ(found, 12U);
  EXPECT_EQ(fabric.nodes[12].name.front(), 'h') << "a host has started, no aggregation node";
}

TEST(SpecSuffixes, ACutTakesItsShareOfTheCablesBetweenSwitches) {
  const auto whole = cables_between_switches(make("ft3:8"));
  for (const auto& [percent, gone] : std::vector<std::pair<std::string, std::size_t>>{
           {"0", 0}, {"0.001", 1}, {"1", 3}, {"2.5", 6}, {"10", 26}, {"100", 256}}) {
    const auto fabric = make("ft3:8+cut=" + percent + ":1");
    EXPECT_EQ(cables_between_switches(fabric), whole - gone) << percent;
    EXPECT_EQ(fabric.nodes.size(), 208U);
    for (const auto& node : fabric.nodes) {
      if (!is_switch(node)) EXPECT_TRUE(node.ports[1].peer) << "links of hosts stay";
    }
  }
  EXPECT_NE(make("ft3:8+cut=5:1"), make("ft3:8+cut=5:2"));
}

TEST(SpecSuffixes, SpeedsAreDrawnForCablesBetweenSwitchesOnly) {
  std::map<LinkSpeed, std::size_t> between, to_hosts;
  const auto fabric = make("ft3:8+an+speeds=EDR,NDR:1");
  for (const auto& node : fabric.nodes) {
    for (const auto& port : node.ports) {
      if (!port.peer) continue;
      const bool cable = is_switch(node) && is_switch(fabric.nodes[port.peer->node]);
      ++(cable ? between : to_hosts)[port.rate.speed];
    }
  }
  EXPECT_EQ(between.size(), 2U);
  EXPECT_NEAR(static_cast<double>(between[LinkSpeed::edr]), 256, 64);
  EXPECT_EQ(between[LinkSpeed::edr] + between[LinkSpeed::ndr], 512U);
  EXPECT_EQ(to_hosts, (std::map<LinkSpeed, std::size_t>{{LinkSpeed::hdr, 2 * (128 + 80)}}));
}

TEST(SpecSuffixes, ErrorsSayWhatIsAllowed) {
  EXPECT_EQ(
      error_of("ft2:8+gids=1"),
      "ft2:8+gids=1: +gids=1: not a suffix: one of +an, +cut=PERCENT:SEED, +speeds=A,B,…:SEED, +guids=SEED "
      "is needed");
  EXPECT_THAT(error_of("ft2:8+"), testing::StartsWith("ft2:8+: +: not a suffix: one of"));
  EXPECT_EQ(error_of("ft2:8+an=1"), "ft2:8+an=1: +an=1: +an takes no value");
  EXPECT_EQ(error_of("ft2:8+an+an"), "ft2:8+an+an: +an: is given twice");
  EXPECT_EQ(error_of("ft2:8+guids=1+guids=1"), "ft2:8+guids=1+guids=1: +guids: is given twice");
  EXPECT_EQ(error_of("ft2:8+guids"),
            "ft2:8+guids: +guids: SEED is empty: a whole number from 0 to 18446744073709551615 is needed");
  EXPECT_EQ(error_of("ft2:8+guids=-1"),
            "ft2:8+guids=-1: +guids=-1: SEED is -1: a whole number from 0 to 18446744073709551615 is needed");
  EXPECT_EQ(error_of("ft2:8+cut=5"), "ft2:8+cut=5: +cut=5: '5': PERCENT:SEED is needed");
  EXPECT_EQ(
      error_of("ft2:8+cut=101:1"),
      "ft2:8+cut=101:1: +cut=101:1: PERCENT is 101: a number from 0 to 100 with at most three decimals is "
      "needed");
  for (const std::string percent : {"", "100.001", "0.0001", "1.", ".5", "1e1", "-1", "1.2.3", "0x5"})
    EXPECT_THAT(error_of("ft2:8+cut=" + percent + ":1"), testing::HasSubstr("at most three decimals"));
  EXPECT_EQ(
      error_of("ft2:8+speeds=EDR,FAST:1"),
      "ft2:8+speeds=EDR,FAST:1: +speeds=EDR,FAST:1: speed 2 is FAST: one of SDR, DDR, QDR, FDR10, FDR, EDR, "
      "HDR, NDR, XDR is needed");
  EXPECT_THAT(error_of("ft2:8+speeds=:1"), testing::HasSubstr("speed 1 is empty"));
  EXPECT_THAT(error_of("ft2:8+speeds=???:1"), testing::HasSubstr("speed 1 is ???"));
  EXPECT_THAT(error_of("ft2:8+speeds=EDR"), testing::HasSubstr("A,B,…:SEED is needed"));
  EXPECT_EQ(
      error_of("ft3:56+an"),
      "ft3:56+an: +an: 3920 switches and 47824 host ports need a LID each: at most 49151 LIDs are possible");
  EXPECT_EQ(error_of("ft2:254+an"),
            "ft2:254+an: +an: a switch would have 255 ports: at most 254 are possible");
  EXPECT_EQ(error_of("ft3:7+guids=1"), "ft3:7+guids=1: K is 7: an even number from 2 to 254 is needed");
}

TEST(SpecSuffixes, AFullCoreHasEveryAggregationSwitchAtEveryCore) {
  const auto fabric = make("fullcore:3:4:5:2:6");
  EXPECT_EQ(fabric.nodes.size(), 6U + 3U * (2U + 4U + 4U * 5U));
  for (const auto& node : fabric.nodes) {
    std::set<NodeIndex> peers;
    for (const auto& port : node.ports) {
      if (port.peer) peers.insert(port.peer->node);
    }
    const auto wanted = node.name.starts_with("core") ? 6U : node.name.starts_with("agg") ? 4U + 6U : 5U + 2U;
    if (is_switch(node)) EXPECT_EQ(peers.size(), wanted) << node.name;
    if (is_switch(node)) EXPECT_EQ(node.port_count(), wanted) << node.name;
  }
  EXPECT_EQ(error_of("fullcore:128:1:1:2:1"),
            "fullcore:128:1:1:2:1: a switch would have 256 ports: at most 254 are possible");
  EXPECT_EQ(error_of("fullcore:1:1:1:1"),
            "fullcore:1:1:1:1: 4 arguments: fullcore:PODS:LEAVES:HOSTS:AGGS:CORES is needed");
}

TEST(SpecSuffixes, EdgeSwitchesOfADirectorUseHalfOfItsLineBoardsInTurn) {
  const auto fabric = make("chassis:36:18:18:9:2:2");
  EXPECT_EQ(fabric.nodes.size(), 36U + 2U * (18U + 9U) + 36U * 18U);
  std::map<std::string, std::set<std::string>> peers;
  for (const auto& node : fabric.nodes) {
    for (const auto& port : node.ports) {
      if (port.peer) peers[node.name].insert(fabric.nodes[port.peer->node].name);
    }
    if (is_switch(node)) EXPECT_EQ(node.port_count(), 36U) << node.name;
    if (is_switch(node)) {
      EXPECT_TRUE(std::ranges::all_of(node.ports.begin() + 1, node.ports.end(),
                                      [](const FabricPort& port) { return port.peer.has_value(); }));
    }
  }
  EXPECT_EQ(peers["d00-spine00"].size(), 18U);
  EXPECT_EQ(peers["d00-line00"].size(), 18U + 9U) << "edge switches of even number, spine boards";
  EXPECT_TRUE(peers["edge000"].contains("d00-line08"));
  EXPECT_FALSE(peers["edge000"].contains("d00-line09"));
  EXPECT_TRUE(peers["edge001"].contains("d00-line09"));
  EXPECT_EQ(
      error_of("chassis:4:2:2:2:1:3"),
      "chassis:4:2:2:2:1:3: CHASSIS is 3: at most HOSTS (2) are possible, the uplinks of an edge switch");
}

RC_GTEST_PROP(SpecSuffixesProperty, AnyTextIsReadOrRefusedWithAReason, (std::uint64_t seed)) {
  constexpr std::string_view kParts[] = {"+",  "guids", "an",  "cut", "speeds", "=",    ":",   ",", "1",
                                         "99", "0.5",   "EDR", "HDR", "...",    "\xff", "ft2", " ", "-"};
  Random random(seed);
  std::string text = "ft2:4+";
  for (auto left = random.below(12); left > 0; --left) text += kParts[random.below(std::size(kParts))];
  const auto fabric = make_fabric(text);
  if (!fabric) {
    RC_ASSERT(fabric.error().starts_with(text + ": "));
    RC_ASSERT(fabric.error().find('\n') == std::string::npos);
    return;
  }
  RC_ASSERT(*make_fabric(text) == *fabric);
  RC_ASSERT(read_fabric(write_fabric(*fabric), "f").has_value());
}

}  // namespace
}  // namespace smd::base
