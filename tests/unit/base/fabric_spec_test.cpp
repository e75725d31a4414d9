// SPDX-License-Identifier: Apache-2.0
#include "mad/base/fabric_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "mad/base/fabric_file.h"

namespace smd::base {
namespace {

Fabric make(std::string_view spec) {
  auto fabric = make_fabric(spec);
  if (!fabric) ADD_FAILURE() << fabric.error();
  return fabric.value_or(Fabric{});
}

std::string error_of(std::string_view spec) {
  const auto fabric = make_fabric(spec);
  return fabric ? "no error" : fabric.error();
}

std::size_t count(const Fabric& fabric, NodeType type) {
  return static_cast<std::size_t>(std::ranges::count(fabric.nodes, type, &FabricNode::type));
}

std::size_t links(const FabricNode& node) {
  return static_cast<std::size_t>(
      std::ranges::count_if(node.ports, [](const FabricPort& port) { return port.peer.has_value(); }));
}

/// Ids, names and GUIDs (of ports, too) are there once; links are symmetric; all switches hang together.
void expect_sound(const Fabric& fabric, std::string_view spec) {
  std::set<std::string> names, ids;
  std::set<Guid> guids;
  for (NodeIndex i = 0; i < fabric.nodes.size(); ++i) {
    const auto& node = fabric.nodes[i];
    EXPECT_TRUE(names.insert(node.name).second) << spec << " " << node.name;
    EXPECT_TRUE(ids.insert(node.id).second) << spec << " " << node.id;
    EXPECT_TRUE(guids.insert(node.guid).second) << spec;
    for (std::uint8_t port = 1; port <= node.port_count(); ++port) {
      if (node.type != NodeType::switch_) {
        EXPECT_TRUE(guids.insert(port_guid(node, PortNum{port})).second);
      }
      const auto& peer = node.ports[port].peer;
      if (!peer) continue;
      const auto& back = fabric.nodes.at(peer->node).ports.at(peer->port.value()).peer;
      EXPECT_EQ(back, (Peer{i, PortNum{port}})) << spec;
    }
  }
  std::vector<NodeIndex> reached{0};
  std::vector<bool> seen(fabric.nodes.size(), false);
  seen[0] = true;
  for (std::size_t next = 0; next < reached.size(); ++next) {
    for (const auto& port : fabric.nodes[reached[next]].ports) {
      if (!port.peer || seen[port.peer->node]) continue;
      seen[port.peer->node] = true;
      reached.push_back(port.peer->node);
    }
  }
  EXPECT_EQ(reached.size(), fabric.nodes.size()) << spec << " does not hang together";
}

class EverySpec : public testing::TestWithParam<const char*> {};

TEST_P(EverySpec, IsSoundDeterministicAndSurvivesItsFile) {
  const auto fabric = make(GetParam());
  const auto text = write_fabric(fabric);
  const auto again = read_fabric(text, GetParam());

  expect_sound(fabric, GetParam());
  EXPECT_EQ(make(GetParam()), fabric);
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ(*again, fabric);
  EXPECT_EQ(write_fabric(*again), text);
}

INSTANTIATE_TEST_SUITE_P(Base, EverySpec,
                         testing::Values("ft2:2", "ft2:8", "ft3:2", "ft3:8", "ft3:8:3", "ft3:4:1",
                                         "torus:5x5:1", "torus:4", "torus:2x3x1x2:2", "torus:1:3",
                                         "mesh:4x4:2", "mesh:7:0", "mesh:2x2x2x2", "mesh:2x1x3x2x2x3",
                                         "torus:3x2x3x2x1x4:2", "hyperx:2x3x2x2x3x2:1", "dragonfly:4:2",
                                         "dragonfly:1:1:1", "dragonfly:3:5:0", "dragonflyplus:5:4:3:2",
                                         "dragonflyplus:1:2:2:2", "hyperx:4x4:2", "hyperx:2x3x4",
                                         "hyperx:5:0", "random:40:5:2:1", "random:1:0:3:9",
                                         "random:2:1:1:18446744073709551615", "random:100:2:0:3",
                                         "xgft:1;4;1;1", "xgft:2;4,4;1,4;1,2", "xgft:3;2,2,3;1,2,2;1,1,2",
                                         "xgft:2;4,4;2,2;2,1", "rails:16:8:4:8", "rails:3:2:2:1"));

TEST(FabricSpec, TheWholeTreesHaveTheirSizes) {
  const auto ft2 = make("ft2:36"), ft3 = make("ft3:8");

  EXPECT_EQ(count(ft2, NodeType::switch_), 54U);
  EXPECT_EQ(count(ft2, NodeType::ca), 648U);
  EXPECT_EQ(count(ft3, NodeType::switch_), 80U);
  EXPECT_EQ(count(ft3, NodeType::ca), 128U);
  EXPECT_EQ(ft3.nodes[0].name, "core00-00");
  EXPECT_EQ(ft3.nodes.back().name, "h07-03-03");
  for (const auto& node : ft3.nodes) EXPECT_EQ(links(node), node.port_count());
}

TEST(FabricSpec, TheUnicastLidSpaceCanBeFilled) {
  EXPECT_EQ(make("ft3:56").nodes.size(), 47824U);
  EXPECT_EQ(make("torus:49151:0").nodes.size(), 49151U);
  EXPECT_EQ(make("random:24575:4:1:1").nodes.size(), 49150U);
}

TEST(FabricSpec, ADragonflyHasOneLinkBetweenAnyTwoGroups) {
  const auto fabric = make("dragonfly:4:2:1");
  constexpr NodeIndex kRouters = 4, kGroups = 9;
  std::multiset<std::pair<NodeIndex, NodeIndex>> between;
  for (NodeIndex i = 0; i < kRouters * kGroups; ++i) {
    EXPECT_EQ(links(fabric.nodes[i]), 1U + 3U + 2U);
    for (const auto& port : fabric.nodes[i].ports) {
      if (port.peer && port.peer->node < kRouters * kGroups) {
        between.emplace(i / kRouters, port.peer->node / kRouters);
      }
    }
  }

  for (NodeIndex a = 0; a < kGroups; ++a) {
    for (NodeIndex b = 0; b < kGroups; ++b) EXPECT_EQ(between.count({a, b}), a == b ? 12U : 1U);
  }
}

TEST(FabricSpec, ATorusOfTwoHasOneLinkAndAMeshNoWayAround) {
  EXPECT_EQ(links(make("torus:2:0").nodes[0]), 1U);
  EXPECT_EQ(links(make("torus:3:0").nodes[0]), 2U);
  EXPECT_EQ(links(make("mesh:3:0").nodes[0]), 1U);
}

TEST(FabricSpec, AHyperXLinksAllThatDifferInOneCoordinate) {
  const auto fabric = make("hyperx:3x4:2");

  for (NodeIndex i = 0; i < 12; ++i) EXPECT_EQ(links(fabric.nodes[i]), 2U + 3U + 2U);
}

TEST(FabricSpec, LatticesHaveSixDimensions) {
  EXPECT_EQ(links(make("hyperx:2x2x2x2x2x2:4").nodes[0]), 6U + 4U);
  EXPECT_EQ(links(make("mesh:3x3x3x3x3x3:1").nodes[364]), 12U + 1U);  // the middle
  EXPECT_EQ(links(make("torus:3x3x3x3x3x3:1").nodes[0]), 12U + 1U);
}

TEST(FabricSpec, ParallelLinksAndUplinksOfAnXgftAreCounted) {
  const auto fabric = make("xgft:2;4,6;2,2;1,3");  // 24 hosts with 2 ports, 2*6 leaves, 4 spines

  EXPECT_EQ(count(fabric, NodeType::ca), 24U);
  EXPECT_EQ(count(fabric, NodeType::switch_), 12U + 4U);
  EXPECT_EQ(fabric.nodes[0].port_count(), 4U + 2U * 3U);
  EXPECT_EQ(fabric.nodes[12].port_count(), 6U * 3U);
  EXPECT_EQ(fabric.nodes.back().port_count(), 2U);
}

TEST(FabricSpec, AHostsRailsShareTheSystemImageAndEachGoesToItsOwnLeaf) {
  const auto fabric = make("rails:8:2:3:4");  // two groups of four leaves, three hosts each
  const auto first = fabric.nodes.size() - 2 * 3 * 4;
  for (std::size_t i = first; i < fabric.nodes.size(); ++i) {
    const auto host = (i - first) / 4, rail = (i - first) % 4;
    EXPECT_EQ(fabric.nodes[i].system_image, fabric.nodes[first + 4 * host].guid);
    EXPECT_EQ(fabric.nodes[i].ports[1].peer->node, host / 3 * 4 + rail);
  }
}

TEST(FabricSpec, ARandomFabricFollowsItsSeedAndUsesItsDegree) {
  EXPECT_NE(make("random:30:4:1:1"), make("random:30:4:1:2"));
  std::size_t used = 0;
  for (const auto& node : make("random:30:4:0:5").nodes) used += links(node);
  EXPECT_GE(used, 30U * 4U - 2U);
}

TEST(FabricSpec, ErrorsSayWhatIsAllowed) {
  EXPECT_EQ(error_of("ft3:7"), "ft3:7: K is 7: an even number from 2 to 254 is needed");
  EXPECT_EQ(error_of("ft3:"), "ft3:: K is empty: an even number from 2 to 254 is needed");
  EXPECT_EQ(error_of("ft3:8:9"), "ft3:8:9: PODS is 9: a whole number from 1 to 8 is needed");
  EXPECT_EQ(error_of("ft2:8:1"), "ft2:8:1: 2 arguments: ft2:K is needed");
  EXPECT_EQ(error_of("ft3:58"),
            "ft3:58: 4205 switches and 48778 host ports need a LID each: at most 49151 LIDs are possible");
  EXPECT_EQ(error_of("torus:5xa"), "torus:5xa: dimension 2 is a: a whole number from 1 to 49151 is needed");
  EXPECT_EQ(error_of("torus:3x3:251"),
            "torus:3x3:251: a switch would have 255 ports: at most 254 are possible");
  EXPECT_EQ(error_of("rails:9:2:2:2"), "rails:9:2:2:2: LEAVES is 9: a multiple of RAILS (2) is needed");
  EXPECT_EQ(error_of("random:9:1:1:1"),
            "random:9:1:1:1: DEGREE is 1: 9 switches need at least 2 to be connected");
  EXPECT_EQ(error_of("xgft:2;4,4;1;1,1"), "xgft:2;4,4;1;1,1: w has 1 numbers: h is 2, so 2 are needed");
  EXPECT_EQ(error_of("xgft:2"), "xgft:2: four parts with ';' between are needed: h;m1,…;w1,…;p1,…");
  EXPECT_THAT(error_of("dragonfly:254:254:1"), testing::HasSubstr("at most 254 are possible"));
  EXPECT_THAT(error_of("torus:99999999999999999999"), testing::HasSubstr("dimension 1"));
  EXPECT_THAT(error_of("xgft:9;200,200,200,200,200,200,200,200,200;1,1,1,1,1,1,1,1,1;1,1,1,1,1,1,1,1,1"),
              testing::HasSubstr("LIDs are possible"));
}

TEST(FabricSpec, ANameWithAColonIsWhatMakesASpec) {
  EXPECT_TRUE(is_spec("ft3:8"));
  EXPECT_TRUE(is_spec("ft3:oops"));
  EXPECT_FALSE(is_spec("ft3"));
  EXPECT_FALSE(is_spec("./ft3:8"));
  EXPECT_FALSE(is_spec("ftree:8"));
}

}  // namespace
}  // namespace smd::base
