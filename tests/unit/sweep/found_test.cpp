// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>

#include "smd/sweep/discovery_state.h"
#include "tests/support/subnet_builder.h"

namespace smd::sm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint64_t kRoot = 0x10, kBranch = 0x20, kAdapter = 0x100;

wire::NodeInfo info_of(NodeType type, std::uint64_t guid, unsigned local_port, unsigned ports = 4) {
  const bool is_switch = type == NodeType::switch_;
  return {.type = type,
          .num_ports = static_cast<std::uint8_t>(ports),
          .node = Guid{guid},
          .port = is_switch ? Guid{guid} : test::port_guid(guid, local_port),
          .local_port = test::port_num(local_port)};
}
wire::NodeInfo switch_by(std::uint64_t guid, unsigned local_port) {
  return info_of(NodeType::switch_, guid, local_port);
}

/// What is to be read; without trouble.
std::optional<ToRead> met(DiscoveryState& findings, const wire::NodeInfo& info,
                          std::optional<PeerPort> from = {}) {
  std::string trouble;
  auto to_read = findings.arrived(info, from, {}, trouble);
  EXPECT_EQ(trouble, "");
  return to_read;
}

TEST(DiscoveryState, AnswersThatMakeNoNodeAreNamed) {
  const struct {
    std::function<void(wire::NodeInfo&)> spoil;
    NodeType type;
    std::string_view trouble;
  } cases[]{
      {[](auto& i) { i.type = NodeType::none; }, NodeType::ca, "NodeType 0 is not a CA, switch or router"},
      {[](auto& i) { i.type = NodeType{4}; }, NodeType::ca, "NodeType 4 is not a CA, switch or router"},
      {[](auto& i) { i.node = Guid{}; }, NodeType::ca, "NodeGUID is 0"},
      {[](auto& i) { i.port = Guid{}; }, NodeType::ca, "PortGUID is 0"},
      {[](auto& i) { i.port = Guid{}; }, NodeType::switch_, ""},  // a switch's ports have the node's
      {[](auto& i) { i.num_ports = 0; }, NodeType::ca, "NumberOfPorts is 0"},
      {[](auto& i) { i.num_ports = 255; }, NodeType::switch_, "NumberOfPorts is 255"},
      {[](auto& i) { i.num_ports = 254; }, NodeType::switch_, ""},
      {[](auto& i) { i.local_port = PortNum{5}; }, NodeType::ca, "LocalPortNum 5 of 4 ports"},
      {[](auto& i) { i.local_port = PortNum{4}; }, NodeType::ca, ""},
      {[](auto& i) { i.local_port = PortNum{0}; }, NodeType::ca, "LocalPortNum 0 of 4 ports"},
      {[](auto& i) { i.local_port = PortNum{0}; }, NodeType::switch_, ""},
  };
  for (const auto& at : cases) {
    auto info = info_of(at.type, kAdapter, 1);
    at.spoil(info);
    DiscoveryState findings({});
    std::string trouble;

    const auto to_read = findings.arrived(info, std::nullopt, {}, trouble);

    EXPECT_EQ(trouble, at.trouble);
    EXPECT_EQ(to_read.has_value(), at.trouble.empty());
    EXPECT_EQ(findings.nodes().size(), at.trouble.empty() ? 1U : 0U);
  }
}

TEST(DiscoveryState, ANodeIsReadOnceAndEachPortOfACaOnce) {
  DiscoveryState findings({});
  met(findings, switch_by(kRoot, 0));
  const auto first = met(findings, info_of(NodeType::ca, kAdapter, 1), test::place(kRoot, 1));
  const auto second = met(findings, info_of(NodeType::ca, kAdapter, 2), test::place(kRoot, 2));
  const auto again = met(findings, info_of(NodeType::ca, kAdapter, 2), test::place(kRoot, 2));

  ASSERT_TRUE(first && second);
  EXPECT_TRUE(first->whole);
  EXPECT_EQ(first->arrival, PortNum{1});
  EXPECT_FALSE(second->whole);
  EXPECT_EQ(second->arrival, PortNum{2});
  EXPECT_EQ(second->found, first->found);
  EXPECT_FALSE(again);
  EXPECT_EQ(first->found->node.ports.size(), 5U);
  EXPECT_EQ(first->found->node.ports[2].guid, test::port_guid(kAdapter, 2));
}

TEST(DiscoveryState, ANodeIsAskedByThePathOfItsFirstArrival) {
  test::SubnetBuilder fabric;
  fabric.add_switch(kBranch, 4);
  const auto before = fabric.build();
  DiscoveryState findings({}, &before);
  const auto by_one = *mad::DirectedPath().then(PortNum{1}), by_two = *mad::DirectedPath().then(PortNum{2});
  std::string trouble;
  findings.touch(Guid{kBranch});  // its path is not known

  const auto first = findings.arrived(switch_by(kBranch, 3), std::nullopt, by_two, trouble);
  findings.arrived(switch_by(kBranch, 4), std::nullopt, by_one, trouble);

  ASSERT_TRUE(first);
  EXPECT_EQ(first->path, by_two);
  EXPECT_EQ(findings.find(Guid{kBranch})->path, by_two);
}

TEST(DiscoveryState, ASwitchThatIsMetByASecondLinkIsLinkedAndNotReadAgain) {
  DiscoveryState findings({});
  met(findings, switch_by(kRoot, 0));
  EXPECT_TRUE(met(findings, switch_by(kBranch, 3), test::place(kRoot, 1)));
  EXPECT_FALSE(met(findings, switch_by(kBranch, 4), test::place(kRoot, 2)));

  const auto& root = findings.find(Guid{kRoot})->node;
  const auto& branch = findings.find(Guid{kBranch})->node;
  EXPECT_EQ(root.ports[1].peer, test::place(kBranch, 3));
  EXPECT_EQ(root.ports[2].peer, test::place(kBranch, 4));
  EXPECT_EQ(branch.ports[3].peer, test::place(kRoot, 1));
  EXPECT_EQ(branch.ports[4].peer, test::place(kRoot, 2));
  EXPECT_THAT(findings.conflicts(), IsEmpty());
}

TEST(DiscoveryState, AGuidOfTwoNodesOfDifferentMakeIsAConflict) {
  DiscoveryState findings({});
  met(findings, switch_by(kRoot, 0));
  met(findings, info_of(NodeType::ca, kAdapter, 1), test::place(kRoot, 1));

  EXPECT_FALSE(
      met(findings, info_of(NodeType::ca, kAdapter, 2, 2), test::place(kRoot, 2)));  // of 2 ports, not 4

  ASSERT_TRUE(findings.conflicts().contains(Guid{kAdapter}));
  EXPECT_THAT(findings.conflicts().at(Guid{kAdapter}),
              ElementsAre(test::place(kRoot, 1), test::place(kRoot, 2)));
}

TEST(DiscoveryState, APortThatTwoPortsLeadToIsAConflict) {
  DiscoveryState findings({});
  met(findings, switch_by(kRoot, 0));
  met(findings, switch_by(kBranch, 3), test::place(kRoot, 1));
  met(findings, switch_by(kBranch, 3), test::place(kRoot, 2));

  ASSERT_TRUE(findings.conflicts().contains(Guid{kBranch}));
  EXPECT_THAT(findings.conflicts().at(Guid{kBranch}),
              ElementsAre(test::place(kRoot, 1), test::place(kRoot, 2)));
}

TEST(DiscoveryState, ANodeThatWasKnownIsTakenAsItWas) {
  test::SubnetBuilder fabric;
  fabric.add_switch(kRoot, 4).lid(kRoot, 0, 7);
  const auto before = fabric.build();
  DiscoveryState findings({}, &before);

  EXPECT_EQ(findings.find(Guid{kRoot}), nullptr);
  EXPECT_EQ(findings.touch(Guid{0x999}), nullptr);
  auto* found = findings.touch(Guid{kRoot});
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->node.ports[0].info.lid, Lid{7});
  EXPECT_FALSE(found->read);
  EXPECT_EQ(findings.touch(Guid{kRoot}), found);

  const auto to_read = met(findings, switch_by(kRoot, 0));
  ASSERT_TRUE(to_read);
  EXPECT_TRUE(to_read->whole && found->read);
}

TEST(DiscoveryState, UnlinkTakesTheLinkAwayAtBothEndsAndItsOtherEndIsOutdated) {
  test::SubnetBuilder fabric;
  fabric.add_switch(kRoot).add_switch(kBranch).link(kRoot, 1, kBranch, 3);
  const auto before = fabric.build();
  DiscoveryState findings({}, &before);
  auto* root = findings.touch(Guid{kRoot});

  EXPECT_EQ(findings.unlink(*root, PortNum{1}), test::place(kBranch, 3));

  const auto* branch = findings.find(Guid{kBranch});
  ASSERT_NE(branch, nullptr);
  EXPECT_FALSE(root->node.ports[1].peer);
  EXPECT_FALSE(branch->node.ports[3].peer);
  EXPECT_THAT(branch->outdated, ElementsAre(PortNum{3}));
  EXPECT_THAT(root->outdated, IsEmpty());
  EXPECT_FALSE(findings.unlink(*root, PortNum{1}));
}

TEST(DiscoveryState, UnlinkLeavesAnEndThatIsLinkedElsewhereByNow) {
  test::SubnetBuilder fabric;
  fabric.add_switch(kRoot).add_switch(kBranch).link(kRoot, 1, kBranch, 3);
  fabric.port(kBranch, 3).peer = test::place(0x30, 1);
  const auto before = fabric.build();
  DiscoveryState findings({}, &before);

  findings.unlink(*findings.touch(Guid{kRoot}), PortNum{1});

  EXPECT_EQ(findings.find(Guid{kBranch})->node.ports[3].peer, test::place(0x30, 1));
  EXPECT_THAT(findings.find(Guid{kBranch})->outdated, IsEmpty());
}

TEST(MakeSubnet, LeavesOutNodesInConflictButOurOwn) {
  for (const bool own : {false, true}) {
    DiscoveryState findings({});
    met(findings, info_of(NodeType::ca, 0x200, 1));
    met(findings, switch_by(kRoot, 1), test::place(0x200, 1));
    met(findings, info_of(NodeType::ca, kAdapter, 1), test::place(kRoot, 2));
    met(findings, info_of(NodeType::ca, kAdapter, 1, 2), test::place(kRoot, 3));

    const auto subnet = make_subnet(std::move(findings), test::place(own ? kAdapter : 0x200, 1), nullptr);

    EXPECT_EQ(subnet.find(Guid{kAdapter}) != nullptr, own);
    EXPECT_NE(subnet.find(Guid{kRoot}), nullptr);
    ASSERT_EQ(subnet.duplicates.size(), 1U);
    EXPECT_EQ(subnet.duplicates[0].guid, Guid{kAdapter});
    EXPECT_EQ(subnet.sm_port, PortNum{1});
  }
}

TEST(PartPortGuids, WithoutHistoryNoneKeepsItButOurOwnPortAndASwitch) {
  test::SubnetBuilder fabric;
  fabric.add_switch(kRoot)
      .host(0x100, kRoot, 1)
      .host(0x200, kRoot, 2)
      .host(0x300, kRoot, 3)
      .host(0x400, kRoot, 4);
  fabric.port(0x100, 1).guid = fabric.port(0x200, 1).guid = Guid{0xF1};  // ours and another
  fabric.port(0x300, 1).guid = fabric.port(0x400, 1).guid = Guid{0xF2};
  auto subnet = fabric.sm(0x100, 1).build();

  part_port_guids(subnet, nullptr);

  EXPECT_TRUE(subnet.find(Guid{0x100})->ports[1].known);
  EXPECT_FALSE(subnet.find(Guid{0x200})->ports[1].known);
  EXPECT_FALSE(subnet.find(Guid{0x300})->ports[1].known);
  EXPECT_FALSE(subnet.find(Guid{0x400})->ports[1].known);
  EXPECT_EQ(subnet.duplicates.size(), 2U);
}

}  // namespace
}  // namespace smd::sm
