// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/silent_hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <utility>

#include "tests/support/subnet_builder.h"

namespace smd::sm {
namespace {

using test::place;
using test::SubnetBuilder;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint64_t kSmCa = 0x100, kLoneHost = 0x200, kDualHost = 0x300, kNearLeaf = 0x10,
                        kFarLeaf = 0x20;

/// Two switches; our CA and a host on the first, a CA with two ports on both.
SubnetBuilder hosts_on_two_leaves() {
  SubnetBuilder subnet;
  subnet.add_switch(kNearLeaf).add_switch(kFarLeaf).link(kNearLeaf, 8, kFarLeaf, 8).sm(kSmCa, 1, 1);
  subnet.host(kSmCa, kNearLeaf, 1).host(kLoneHost, kNearLeaf, 2).lid(kLoneHost, 1, 7);
  subnet.add_ca(kDualHost, 2).link(kNearLeaf, 3, kDualHost, 1).link(kFarLeaf, 3, kDualHost, 2);
  return subnet.lid(kDualHost, 2, 9);
}

void change(Subnet& subnet, const PeerPort& at, auto&& change_port) {
  auto& node = subnet.nodes[*subnet.index_of(at.node)];
  auto copy = std::make_shared<Node>(*node);
  change_port(copy->ports[at.port.value()]);
  node = std::move(copy);
}

void take_away(Subnet& subnet, std::uint64_t node, const PeerPort& behind) {
  std::erase_if(subnet.nodes, [&](const NodePtr& it) { return it->guid() == Guid{node}; });
  change(subnet, behind, [](Port& port) { port.peer.reset(); });
  subnet.unresponsive.push_back({behind, Guid{}, "silent"});
}

TEST(SilentHosts, AreThoseWhoseLinkIsUpAsTheyWere) {
  const auto before = hosts_on_two_leaves().build();
  auto now = before;
  take_away(now, kLoneHost, place(kNearLeaf, 2));

  now.silent_hosts = silent_hosts(before, now);

  ASSERT_THAT(now.silent_hosts, SizeIs(1));
  EXPECT_EQ(now.silent_hosts[0]->ports[1].info.lid, test::to_lid(7));
  EXPECT_EQ(now.silent_hosts[0]->ports[1].peer, place(kNearLeaf, 2));
  // Nor do they answer the next sweep.
  EXPECT_THAT(silent_hosts(now, now), SizeIs(1));
}

TEST(SilentHosts, AreNotThoseWhoseLinkIsDown) {
  const auto before = hosts_on_two_leaves().build();
  auto now = before;
  take_away(now, kLoneHost, place(kNearLeaf, 2));
  change(now, place(kNearLeaf, 2), [](Port& port) { port.info.port_state = PortState::down; });

  EXPECT_THAT(silent_hosts(before, now), IsEmpty());
}

TEST(SilentHosts, AreNotThoseThatAnswerElsewhere) {
  const auto before = hosts_on_two_leaves().build();
  auto now = before;
  change(now, place(kNearLeaf, 2), [](Port& port) { port.peer.reset(); });
  now.unresponsive.push_back({place(kNearLeaf, 2), Guid{}, "silent"});
  change(now, place(kLoneHost, 1), [](Port& port) { port.peer = place(kFarLeaf, 5); });

  EXPECT_THAT(silent_hosts(before, now), IsEmpty());
}

TEST(SilentHosts, AreNotThoseWhoseSwitchLeadsToAnotherNode) {
  const auto before = hosts_on_two_leaves().build();
  auto now = before;
  take_away(now, kLoneHost, place(kNearLeaf, 2));
  change(now, place(kNearLeaf, 2), [](Port& port) { port.peer = place(kDualHost, 1); });

  EXPECT_THAT(silent_hosts(before, now), IsEmpty());
}

TEST(SilentHosts, OfACaThatAnswersByOnePortHaveTheOther) {
  const auto before = hosts_on_two_leaves().build();
  auto now = before;
  change(now, place(kFarLeaf, 3), [](Port& port) { port.peer.reset(); });
  change(now, place(kDualHost, 2), [](Port& port) { port = {}; });
  now.unresponsive.push_back({place(kFarLeaf, 3), Guid{}, "silent"});

  now.silent_hosts = silent_hosts(before, now);

  ASSERT_THAT(now.silent_hosts, SizeIs(1));
  EXPECT_FALSE(now.silent_hosts[0]->ports[1].peer);
  EXPECT_EQ(now.silent_hosts[0]->ports[2].info.lid, test::to_lid(9));

  // Then by the other one neither.
  auto later = now;
  take_away(later, kDualHost, place(kNearLeaf, 3));
  const auto silent = silent_hosts(now, later);
  ASSERT_THAT(silent, SizeIs(1));
  EXPECT_EQ(silent[0]->ports[1].peer, place(kNearLeaf, 3));
  EXPECT_EQ(silent[0]->ports[2].peer, place(kFarLeaf, 3));
}

TEST(SilentHosts, AreNoSwitches) {
  const auto before = hosts_on_two_leaves().build();
  auto now = before;
  take_away(now, kFarLeaf, place(kNearLeaf, 8));

  EXPECT_THAT(silent_hosts(before, now), IsEmpty());
}

}  // namespace
}  // namespace smd::sm
