// SPDX-License-Identifier: Apache-2.0
#include "smd/reconcile/bookkeeping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/subnet_builder.h"

namespace smd::sm {
namespace {

using test::port_guid;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The order of the nodes is that of their GUIDs: 0 is switch 0x10, 1 switch 0x20, 2 host 0x100.
constexpr std::uint64_t kLeaf = 0x10, kSpine = 0x20, kAdapter = 0x100;
constexpr NodeIndex kLeafIndex = 0, kSpineIndex = 1, kAdapterIndex = 2;

Subnet fabric() {
  test::SubnetBuilder builder;
  builder.add_switch(kLeaf)
      .add_switch(kSpine)
      .link(kLeaf, 3, kSpine, 3)
      .host(kAdapter, kLeaf, 1)
      .sm(kAdapter, 1, 3);
  builder.lft(kLeaf, 4, {{3, 1}});
  return builder.build();
}

FailedSet failed(NodeIndex node, unsigned port = 0) {
  return {.node = node, .port = test::port_num(port), .attribute = 0x15, .reason = "no answer"};
}

TEST(LeftOut, KnowsWhetherANodeIsNew) {
  const auto subnet = fabric();
  Applied applied;
  applied.silent = {kAdapterIndex};
  applied.refusing = {kLeafIndex};
  LeftOut out;

  EXPECT_TRUE(out.take(subnet, applied));
  EXPECT_FALSE(out.take(subnet, applied));
  EXPECT_THAT(out.all(), ElementsAre(Guid{kLeaf}, Guid{kAdapter}));
}

TEST(Failures, WhatWasMadeGoodIsForgotten) {
  const auto subnet = fabric();
  Applied applied;
  applied.failed = {failed(kLeafIndex), failed(kAdapterIndex, 1), failed(kAdapterIndex, 1)};
  Failures failures;
  failures.add(subnet, applied);

  EXPECT_EQ(failures.sets, 3);
  EXPECT_THAT(failures.nodes, ElementsAre(Guid{kLeaf}, Guid{kAdapter}));

  failures.end(2);
  EXPECT_EQ(failures.left, 2);
  EXPECT_THAT(failures.nodes, ElementsAre(Guid{kLeaf}, Guid{kAdapter}));

  failures.end(0);
  EXPECT_THAT(failures.nodes, IsEmpty());
}

TEST(Failures, TheNodesOfTheRunBeforeAreKept) {
  Applied applied;
  applied.failed = {failed(kSpineIndex)};
  Failures failures;
  failures.add(fabric(), applied);
  failures.end(1);

  failures.begin();

  EXPECT_EQ(failures.sets, 0);
  EXPECT_EQ(failures.left, 0);
  EXPECT_THAT(failures.nodes, IsEmpty());
  EXPECT_THAT(failures.nodes_before, ElementsAre(Guid{kSpine}));
}

TEST(Bookkeeping, RefusedSetsOfNodesThatWereLeftOutAreKept) {
  const auto subnet = fabric();
  Applied applied;
  applied.failed = {failed(kAdapterIndex, 1)};
  const std::vector<RefusedSet> earlier{{test::place(kLeaf, 0), 0x19, "refused"},
                                        {test::place(kSpine, 0), 0x19, "refused"}};

  const auto refused = refused_sets(subnet, applied, earlier, {Guid{kSpine}});

  ASSERT_EQ(refused.size(), 2);
  EXPECT_EQ(refused[0].at, test::place(kAdapter, 1));
  EXPECT_EQ(refused[0].reason, "no answer");
  EXPECT_EQ(refused[1].at, test::place(kSpine, 0));
}

TEST(Bookkeeping, ANodeThatAnswersASetIsUnansweredNoMore) {
  auto subnet = fabric();
  subnet.unanswered = {Guid{kAdapter}};
  const auto& info = subnet.nodes[kAdapterIndex]->ports[1].info;
  Applied applied;
  applied.silent = {kSpineIndex};
  applied.ports = {{.node = kAdapterIndex, .port = PortNum{1}, .sent = info, .answered = info}};

  EXPECT_THAT(after_writing(subnet, {}, applied).unanswered, ElementsAre(Guid{kSpine}));

  applied.ports[0].sent.reset();  // a Get that followed a failed Set
  EXPECT_THAT(after_writing(subnet, {}, applied).unanswered, ElementsAre(Guid{kSpine}, Guid{kAdapter}));
}

TEST(Bookkeeping, PortsOfHostsThatWereArmedHaveComeUp) {
  const auto subnet = fabric();
  wire::PortInfo armed;
  armed.port_state = PortState::armed;
  auto active = armed;
  active.port_state = PortState::active;
  Applied applied;
  applied.ports = {{.node = kLeafIndex, .port = PortNum{1}, .sent = armed, .answered = armed},
                   {.node = kAdapterIndex, .port = PortNum{1}, .sent = armed, .answered = armed},
                   {.node = kAdapterIndex, .port = PortNum{1}, .sent = active, .answered = active}};

  EXPECT_THAT(came_up(subnet, applied), ElementsAre(port_guid(kAdapter, 1)));
}

TEST(Bookkeeping, APortThatShowedAnotherLidThanOursAsMastersIsTakenFromAnotherSm) {
  auto subnet = fabric();
  subnet.sm_node = Guid{kSpine};
  const auto told = [&](std::size_t index, unsigned number, unsigned before, unsigned now) {
    auto node = std::make_shared<Node>(*subnet.nodes[index]);
    node->ports[number].info.sm_lid = Lid{static_cast<std::uint16_t>(before)};
    auto sent = node->ports[number].info;
    sent.sm_lid = Lid{static_cast<std::uint16_t>(now)};
    subnet.nodes[index] = std::move(node);
    return PortAnswer{.node = static_cast<NodeIndex>(index),
                      .port = PortNum{static_cast<std::uint8_t>(number)},
                      .sent = sent,
                      .answered = sent};
  };
  auto sm = std::make_shared<Node>(*subnet.nodes[kSpineIndex]);
  sm->ports[0].info.lid = Lid{7};
  subnet.nodes[kSpineIndex] = std::move(sm);
  const auto taken = [&](const PortAnswer& answer) {
    Applied applied;
    applied.ports = {answer};
    return taken_from_another(subnet, applied);
  };

  EXPECT_THAT(taken(told(kAdapterIndex, 1, 5, 8)), ElementsAre(port_guid(kAdapter, 1)));
  EXPECT_THAT(taken(told(kLeafIndex, 0, 5, 8)), ElementsAre(Guid{kLeaf}));
  EXPECT_THAT(taken(told(kAdapterIndex, 1, 0, 8)), IsEmpty()) << "it had no master";
  EXPECT_THAT(taken(told(kAdapterIndex, 1, 7, 8)), IsEmpty()) << "our LID has changed";
  EXPECT_THAT(taken(told(kAdapterIndex, 1, 8, 8)), IsEmpty());
}

TEST(Bookkeeping, ClearedChangesTellWhetherTheSwitchForwarded) {
  const auto subnet = fabric();
  wire::SwitchInfo set;
  set.port_state_change = true;
  Applied applied;
  applied.switches = {{.node = kLeafIndex, .sent = set, .answered = {}},
                      {.node = kSpineIndex, .sent = set, .answered = {}},
                      {.node = kSpineIndex, .sent = wire::SwitchInfo{}, .answered = {}}};

  const auto cleared = cleared_changes(subnet, applied);

  ASSERT_EQ(cleared.size(), 2);
  EXPECT_EQ(cleared[0].node, Guid{kLeaf});
  EXPECT_TRUE(cleared[0].forwarded);
  EXPECT_FALSE(cleared[1].forwarded);
}

}  // namespace
}  // namespace smd::sm
