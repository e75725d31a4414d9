// SPDX-License-Identifier: Apache-2.0
#include "smd/offline/offline.h"

#include <gtest/gtest.h>

#include "mad/base/fabric_spec.h"
#include "smd/plan/plan.h"
#include "tests/support/offline.h"

namespace smd::sm {
namespace {

TEST(Offline, MakesASubnetOfResetDevices) {
  const auto subnet = offline_subnet(*base::make_fabric("ft2:4"));

  ASSERT_EQ(subnet.nodes.size(), 4 + 2 + 8);
  EXPECT_TRUE(std::ranges::is_sorted(subnet.nodes, {}, [](const NodePtr& node) { return node->guid(); }));
  for (const auto& node : subnet.nodes) {
    for (unsigned p = 1; p <= node->port_count(); ++p) {
      EXPECT_TRUE(node->ports[p].known);
      EXPECT_EQ(node->ports[p].info.port_state, PortState::init);
      ASSERT_TRUE(node->ports[p].peer);
      EXPECT_EQ(subnet.peer_of(node->ports[p])->peer,
                (PeerPort{node->guid(), PortNum{static_cast<std::uint8_t>(p)}}));
    }
    EXPECT_EQ(node->switch_info.has_value(), node->is_switch());
  }
  EXPECT_FALSE(subnet.find(subnet.sm_node)->is_switch());
  EXPECT_EQ(subnet.sm_port, PortNum{1});
}

TEST(Offline, PortsHaveTheVlsThatLayersMayUse) {
  const auto fabric = *base::make_fabric("ft2:4");
  for (const unsigned vls : {1U, kOfflineVls, 9U, 15U}) {
    for (const auto& node : offline_subnet(fabric, vls).nodes) {
      const auto& info = node->ports[1].info;
      EXPECT_EQ(info.vl_cap, vls > kOfflineVls ? 5 : 4) << vls;
      EXPECT_EQ(info.vl_arb_low_cap, std::max(vls, kOfflineVls)) << vls;
      EXPECT_EQ(info.vl_arb_high_cap, std::max(vls, kOfflineVls)) << vls;
    }
  }
}

TEST(Offline, KeepsLidsNamesAndRatesOfTheFile) {
  const auto fabric = test::settle_text(test::kOddFabric);

  const auto* three = fabric.subnet.find(Guid{0x30});
  ASSERT_NE(three, nullptr);
  EXPECT_EQ(three->description, "host three");
  EXPECT_EQ(three->ports[1].info.lid, Lid{77});
  EXPECT_EQ(three->ports[1].info.link_width_active, 8);
  EXPECT_EQ(three->ports[1].info.link_speed_active, 2);
  EXPECT_EQ(fabric.decided.lids->top, Lid{77});
}

TEST(Offline, HasNoPeerBehindAPortWithoutACable) {
  const auto fabric = test::settle_text(test::kOddFabric);

  const auto* sw = fabric.subnet.find(Guid{0xb8599f0300aaaa00});
  ASSERT_NE(sw, nullptr);
  EXPECT_TRUE(sw->ports[12].known);
  EXPECT_FALSE(sw->ports[12].linked());
  EXPECT_FALSE(sw->ports[12].peer);
}

TEST(Offline, PutsTheFirstOfTwoNodesWithOneGuidInServiceAndReportsBoth) {
  auto fabric = *base::make_fabric("ft2:4");
  const auto twin = std::ranges::find(fabric.nodes, NodeType::ca, &base::FabricNode::type) + 1;
  const auto original = twin - 1;
  twin->guid = original->guid;

  const auto subnet = offline_subnet(fabric);

  EXPECT_EQ(subnet.nodes.size(), fabric.nodes.size() - 1);
  ASSERT_EQ(subnet.duplicates.size(), 1);
  EXPECT_EQ(subnet.duplicates[0].guid, original->guid);
  EXPECT_EQ(subnet.duplicates[0].places.size(), 2);
  EXPECT_EQ(subnet.find(original->guid)->description, original->name);
  for (const auto& node : subnet.nodes) {  // nobody's peer is the one that is out of service
    for (const auto& port : node->ports) {
      if (port.peer) EXPECT_NE(subnet.peer_of(port), nullptr);
    }
  }
}

TEST(Offline, OfTwoNodesWithOneGuidNoneIsInService) {
  auto fabric = *base::make_fabric("ft2:4");
  auto& last = fabric.nodes.back();
  auto& other = *std::prev(fabric.nodes.end(), 2);
  ASSERT_EQ(last.type, NodeType::ca);
  other.guid = last.guid;

  const auto subnet = offline_subnet(fabric);

  EXPECT_EQ(subnet.nodes.size(), fabric.nodes.size() - 2);
  EXPECT_EQ(subnet.find(last.guid), nullptr);
}

TEST(Offline, APortGuidOfTwoPortsIsOutOfServiceAtBoth) {
  auto fabric = *base::make_fabric("ft2:4");
  auto& last = fabric.nodes.back();
  auto& other = *std::prev(fabric.nodes.end(), 2);
  other.ports[1].guid = base::port_guid(last, PortNum{1});

  const auto subnet = offline_subnet(fabric);

  ASSERT_EQ(subnet.duplicates.size(), 1U);
  EXPECT_FALSE(subnet.find(last.guid)->ports[1].known);
  EXPECT_FALSE(subnet.find(other.guid)->ports[1].known);
}

TEST(Offline, SettledLeavesNothingToPlan) {
  for (const auto* spec : {"ft2:8", "torus:4x4:1", "rails:4:2:4:2"}) {
    const auto fabric = test::settle_spec(spec);
    const auto left = plan({.subnet = fabric.subnet, .decided = fabric.decided}, routing::Serial{});
    EXPECT_TRUE(left.empty()) << spec << ": " << left.sets();
  }
}

TEST(Offline, TakesAFabricWithoutAnySwitchAndOneOfASwitchAlone) {
  base::Fabric fabric;
  auto& node = fabric.nodes.emplace_back();
  node.type = NodeType::switch_;
  node.guid = Guid{1};
  node.ports.resize(3);
  const auto alone = test::settle(fabric);
  EXPECT_EQ(alone.subnet.sm_node, Guid{1});
  EXPECT_EQ(alone.subnet.sm_port, PortNum{0});

  EXPECT_TRUE(offline_subnet({}).nodes.empty());
}

}  // namespace
}  // namespace smd::sm
