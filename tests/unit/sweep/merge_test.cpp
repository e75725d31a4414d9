// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/subnet_builder.h"

namespace smd::sm {
namespace {

using test::place;
using test::SubnetBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Our CA 0x1, switches 0x10 - 0x20 - 0x30 in a row; CA 0x2 is on 0x20, CA 0x3 on 0x30.
constexpr std::uint64_t kOwn = 0x1, kCa2 = 0x2, kCa3 = 0x3, kSw1 = 0x10, kSw2 = 0x20, kSw3 = 0x30;

/// GUIDs of the ports of CAs are far from those of nodes.
SubnetBuilder row_of_three() {
  SubnetBuilder fabric;
  fabric.add_switch(kSw1).add_switch(kSw2).add_switch(kSw3);
  fabric.host(kOwn, kSw1, 1).host(kCa2, kSw2, 1).host(kCa3, kSw3, 1).sm(kOwn, 1);
  for (const auto guid : {kOwn, kCa2, kCa3}) fabric.port(guid, 1).guid = Guid{0xF00 + guid};
  return fabric.link(kSw1, 8, kSw2, 8).link(kSw2, 7, kSw3, 7);
}

std::vector<std::uint64_t> guids_of(const Subnet& subnet) {
  std::vector<std::uint64_t> guids;
  for (const auto& node : subnet.nodes) guids.push_back(node->guid().value());
  return guids;
}

Subnet merged(const Subnet& before, DiscoveryState&& findings) {
  return merge(before, std::move(findings), {}, {});
}

std::optional<PeerPort> peer_at(const Subnet& subnet, std::uint64_t guid, unsigned port) {
  return subnet.find(Guid{guid})->ports[port].peer;
}

wire::NodeInfo ca_info(std::uint64_t guid, std::uint64_t port) {
  return {
      .type = NodeType::ca, .num_ports = 1, .node = Guid{guid}, .port = Guid{port}, .local_port = PortNum{1}};
}

/// NodeInfo that came by a switch's port, and the port read afterwards.
FoundNode& arrive(DiscoveryState& findings, const wire::NodeInfo& info, const PeerPort& from) {
  std::string trouble;
  findings.touch(from.node);
  const auto to_read = findings.arrived(info, from, {}, trouble);
  EXPECT_TRUE(to_read) << trouble;
  auto& port = to_read->found->node.ports[info.local_port.value()];
  port.known = true;
  port.info.port_state = PortState::init;
  return *to_read->found;
}

TEST(Merge, WithoutFindingsAllNodesAreShared) {
  const auto before = row_of_three().build();

  const auto after = merged(before, DiscoveryState({}, &before));

  EXPECT_EQ(after.nodes, before.nodes);
  EXPECT_EQ(after.sm_node, Guid{kOwn});
  EXPECT_EQ(after.sm_port, PortNum{1});
}

TEST(Merge, ANodeThatWasReadTakesThePlaceOfItsFormerSelf) {
  const auto before = row_of_three().build();
  DiscoveryState findings({}, &before);
  auto* found = findings.touch(Guid{kSw2});
  found->read = true;
  found->node.description = "renamed";

  const auto after = merged(before, std::move(findings));

  EXPECT_EQ(after.find(Guid{kSw2})->description, "renamed");
  EXPECT_EQ(before.find(Guid{kSw2})->description, "");
  for (std::size_t i = 0; i < before.nodes.size(); ++i) {
    if (before.nodes[i]->guid() != Guid{kSw2}) EXPECT_EQ(after.nodes[i], before.nodes[i]);
  }
}

TEST(Merge, ANewNodeComesInItsPlaceByGuid) {
  const auto before = row_of_three().build();
  DiscoveryState findings({}, &before);
  arrive(findings, ca_info(0x15, 0xF15), place(kSw2, 2));

  const auto after = merged(before, std::move(findings));

  EXPECT_THAT(guids_of(after), ElementsAre(kOwn, kCa2, kCa3, kSw1, 0x15, kSw2, kSw3));
  EXPECT_EQ(peer_at(after, kSw2, 2), place(0x15, 1));
  EXPECT_EQ(peer_at(after, 0x15, 1), place(kSw2, 2));
  EXPECT_TRUE(after.find(Guid{0x15})->ports[1].known);
  EXPECT_THAT(after.duplicates, IsEmpty());
}

struct GoneCase {
  std::string_view name;
  std::uint64_t node;  // whose link is gone, or which is silent
  unsigned port;       // 0: silent
  std::vector<std::uint64_t> left;
  PeerPort open_end;
};

TEST(Merge, NodesThatNoLinkLeadsToAreGone) {
  const GoneCase cases[]{
      {"a CA", kSw2, 1, {kOwn, kCa3, kSw1, kSw2, kSw3}, place(kSw2, 1)},
      {"a CA, by its own end", kCa3, 1, {kOwn, kCa2, kSw1, kSw2, kSw3}, place(kSw3, 1)},
      {"a switch and what is behind it", kSw1, 8, {kOwn, kSw1}, place(kSw1, 8)},
      {"a switch at the end", kSw3, 7, {kOwn, kCa2, kSw1, kSw2}, place(kSw2, 7)},
      {"all but ourselves", kOwn, 1, {kOwn}, place(kOwn, 1)},
      {"a CA that is silent", kCa2, 0, {kOwn, kCa3, kSw1, kSw2, kSw3}, place(kSw2, 1)},
      {"a switch that is silent", kSw2, 0, {kOwn, kSw1}, place(kSw1, 8)},
  };
  for (const auto& at : cases) {
    const auto before = row_of_three().build();
    DiscoveryState findings({}, &before);
    auto* found = findings.touch(Guid{at.node});
    if (at.port == 0) found->silent = true;
    if (at.port != 0) findings.unlink(*found, test::port_num(at.port));

    const auto after = merged(before, std::move(findings));

    EXPECT_EQ(guids_of(after), at.left) << at.name;
    EXPECT_FALSE(peer_at(after, at.open_end.node.value(), at.open_end.port.value())) << at.name;
    for (const auto& node : after.nodes) EXPECT_EQ(after.find(node->guid()), node.get()) << at.name;
  }
}

TEST(Merge, ANodeWithAnotherWayStays) {
  const auto before = row_of_three().link(kSw1, 6, kSw3, 6).build();
  DiscoveryState findings({}, &before);
  findings.unlink(*findings.touch(Guid{kSw2}), PortNum{7});

  const auto after = merged(before, std::move(findings));

  EXPECT_EQ(guids_of(after), guids_of(before));
  EXPECT_FALSE(peer_at(after, kSw3, 7));
  EXPECT_EQ(peer_at(after, kSw3, 6), place(kSw1, 6));
}

TEST(Merge, CasDoNotForward) {
  // CA 0x2 has a port on switch 0x10 as well, and our own CA has a second port on switch 0x30.
  auto fabric = row_of_three();
  for (const auto guid : {kOwn, kCa2}) {
    fabric.node(guid).ports.resize(3);
    fabric.port(guid, 2).guid = Guid{0xE00 + guid};
  }
  const auto before = fabric.link(kSw1, 5, kCa2, 2).link(kSw3, 5, kOwn, 2).build();
  DiscoveryState findings({}, &before);
  findings.unlink(*findings.touch(Guid{kSw1}), PortNum{8});

  const auto after = merged(before, std::move(findings));

  EXPECT_THAT(guids_of(after), ElementsAre(kOwn, kCa2, kSw1));
  EXPECT_FALSE(peer_at(after, kCa2, 1));
  EXPECT_EQ(peer_at(after, kCa2, 2), place(kSw1, 5));
  EXPECT_FALSE(peer_at(after, kOwn, 2));
}

TEST(Merge, ACableThatWasMovedLeadsToItsNewPlaceAtBothEnds) {
  const auto before = row_of_three().build();
  DiscoveryState findings({}, &before);
  findings.unlink(*findings.touch(Guid{kSw2}), PortNum{1});
  auto info = before.find(Guid{kCa2})->info;
  info.port = Guid{0xF02};
  arrive(findings, info, place(kSw1, 4));

  const auto after = merged(before, std::move(findings));

  EXPECT_EQ(guids_of(after), guids_of(before));
  EXPECT_EQ(peer_at(after, kCa2, 1), place(kSw1, 4));
  EXPECT_EQ(peer_at(after, kSw1, 4), place(kCa2, 1));
  EXPECT_FALSE(peer_at(after, kSw2, 1));
  EXPECT_THAT(after.duplicates, IsEmpty());
}

// As after a heavy sweep, which meets the node by its other port and does not ask for this one.
TEST(Merge, OfAPortWithoutLinkNothingIsKnownThoughItsNodeIsThereByAnother) {
  auto fabric = row_of_three();
  fabric.add_ca(0x4, 2).link(kSw2, 2, 0x4, 1).link(kSw3, 2, 0x4, 2);
  const auto before = fabric.build();
  DiscoveryState findings({}, &before);
  findings.unlink(*findings.touch(Guid{kSw2}), PortNum{2});

  const auto after = merged(before, std::move(findings));

  const auto* node = after.find(Guid{0x4});
  ASSERT_NE(node, nullptr);
  EXPECT_FALSE(node->ports[1].known);
  EXPECT_FALSE(node->ports[1].peer);
  EXPECT_TRUE(node->ports[2].linked());
}

TEST(Merge, ALinkThatOnlyOneEndKnowsIsNone) {
  const auto before = row_of_three().build();
  DiscoveryState findings({}, &before);
  findings.touch(Guid{kSw3})->node.ports[7].peer = place(kSw1, 7);  // whose port 7 leads nowhere

  const auto after = merged(before, std::move(findings));

  EXPECT_FALSE(peer_at(after, kSw2, 7));
  EXPECT_THAT(guids_of(after), ElementsAre(kOwn, kCa2, kSw1, kSw2));
}

TEST(Merge, OfTwoPortsWithOneGuidTheOneThatHadItKeepsIt) {
  const auto before = row_of_three().build();
  DiscoveryState findings({}, &before);
  arrive(findings, ca_info(0x4, 0xF02), place(kSw1, 4));

  const auto after = merged(before, std::move(findings));

  ASSERT_EQ(after.duplicates.size(), 1U);
  EXPECT_EQ(after.duplicates[0].guid, Guid{0xF02});
  EXPECT_THAT(after.duplicates[0].places, ElementsAre(place(kCa2, 1), place(0x4, 1)));
  EXPECT_TRUE(after.find(Guid{kCa2})->ports[1].known);
  EXPECT_FALSE(after.find(Guid{0x4})->ports[1].known);
}

TEST(Merge, DuplicatesStayUntilTheWholeFabricIsLookedAtAndAreNamedOnce) {
  auto before = row_of_three().build();
  before.duplicates = {{Guid{0xD0}, {place(kSw1, 5), place(kSw2, 5)}},
                       {Guid{0xF02}, {place(kCa2, 1), place(0x9, 1)}}};
  DiscoveryState findings({}, &before);
  arrive(findings, ca_info(0x4, 0xF02), place(kSw1, 4));

  const auto after = merged(before, std::move(findings));

  ASSERT_EQ(after.duplicates.size(), 2U);
  EXPECT_EQ(after.duplicates[0].guid, Guid{0xF02});
  EXPECT_THAT(after.duplicates[0].places, ElementsAre(place(kCa2, 1), place(0x4, 1)));  // as they are now
  EXPECT_EQ(after.duplicates[1].guid, Guid{0xD0});
}

Unresponsive silence(const PeerPort& behind, std::string reason) {
  return {behind, Guid{}, std::move(reason)};
}

TEST(Merge, ReportsOfPlacesThatWereNotLookedAtStay) {
  auto before = row_of_three().build();
  before.unresponsive = {silence(place(kSw1, 5), "old"), silence(place(kSw2, 5), "old"),
                         silence(place(kSw2, 6), "old"), silence(place(kSw3, 5), "old")};
  before.other_sms.resize(3);
  before.other_sms[0].at = place(kCa2, 1);
  before.other_sms[1].at = place(kCa3, 1);
  before.other_sms[2].at = place(kSw2, 0);
  for (auto& sm : before.other_sms) sm.node_description = "old";
  DiscoveryState findings({}, &before);
  findings.touch(Guid{kSw2})->read = true;
  findings.touch(Guid{kSw1});                                // its links alone
  findings.unlink(*findings.touch(Guid{kSw2}), PortNum{7});  // switch 0x30 and CA 0x3 are gone
  OtherSm sm;
  sm.at = place(kSw1, 0);
  sm.node_description = "new";

  const auto after = merge(before, std::move(findings), {silence(place(kSw2, 6), "new")}, {sm});

  std::vector<std::pair<PeerPort, std::string>> silent, sms;
  for (const auto& item : after.unresponsive) silent.emplace_back(item.behind, item.reason);
  for (const auto& item : after.other_sms) sms.emplace_back(item.at, item.node_description);
  EXPECT_THAT(silent, ElementsAre(std::pair{place(kSw1, 5), "old"}, std::pair{place(kSw2, 6), "new"}));
  EXPECT_THAT(sms, ElementsAre(std::pair{place(kCa2, 1), "old"}, std::pair{place(kSw1, 0), "new"}));
}

}  // namespace
}  // namespace smd::sm
