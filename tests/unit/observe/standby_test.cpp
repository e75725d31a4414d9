// SPDX-License-Identifier: Apache-2.0
#include "smd/observe/standby.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smd::sm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Switches 1 and 2 with a link, and host 9 on switch 2.
Inventory two_switches() {
  Inventory now;
  now.put(Guid{1}, {.type = NodeType::switch_, .name = "a"});
  now.put(Guid{2}, {.type = NodeType::switch_, .name = "b"});
  now.put(Guid{9}, {.type = NodeType::ca, .name = "h"});
  now.put(LinkEnd{Guid{1}, PortNum{1}}, KnownLink{.peer = {Guid{2}, PortNum{1}}, .rate = {}, .up_since = 0});
  now.put(LinkEnd{Guid{2}, PortNum{2}}, KnownLink{.peer = {Guid{9}, PortNum{1}}, .rate = {}, .up_since = 0});
  return now;
}

TEST(ChangedNodes, AreBothEndsOfALinkThatIsLostOrFound) {
  const auto before = two_switches();
  auto now = before;
  now.put(LinkEnd{Guid{1}, PortNum{1}},
          KnownLink{.peer = {Guid{2}, PortNum{1}}, .rate = {}, .up_since = 0, .lost_at = 7});

  EXPECT_THAT(changed_nodes(&before, &now), ElementsAre(Guid{1}, Guid{2}));
  EXPECT_THAT(changed_nodes(&now, &before), ElementsAre(Guid{1}, Guid{2}));
}

TEST(ChangedNodes, OfANodeAreItAndItsNeighbours) {
  const auto now = two_switches();
  auto before = now;
  before.forget(Guid{9});

  EXPECT_THAT(changed_nodes(&before, &now), ElementsAre(Guid{2}, Guid{9}));
}

TEST(ChangedNodes, AreNoneWhereNothingIsKnownOrNothingHasChanged) {
  const auto now = two_switches();

  EXPECT_THAT(changed_nodes(&now, &now), IsEmpty());
  EXPECT_THAT(changed_nodes(nullptr, &now), IsEmpty());
}

TEST(ChangedNodes, AreBothEndsOfAPortThatIsDisabledOrEnabled) {
  const policy::PortAt leaf{Guid{1}, PortNum{4}}, host{Guid{9}, PortNum{1}}, spine{Guid{2}, PortNum{1}};
  const policy::DisabledPorts before{{spine, {.peer = {}, .by = "root", .since = 1}}};
  auto now = before;
  now[leaf] = {.peer = host, .by = "root", .since = 2};

  EXPECT_THAT(nodes_of_changed(before, before), IsEmpty());
  EXPECT_THAT(nodes_of_changed(before, now), ElementsAre(Guid{1}, Guid{9}));
  EXPECT_THAT(nodes_of_changed(now, before), ElementsAre(Guid{1}, Guid{9}));
  now[spine].since = 3;
  EXPECT_THAT(nodes_of_changed(before, now), ElementsAre(Guid{1}, Guid{2}, Guid{9}));
}

/// A switch with LID 3.
Subnet one_switch() {
  auto node = std::make_shared<Node>();
  node->info.type = NodeType::switch_;
  node->info.node = Guid{1};
  node->ports.resize(2);
  node->ports[0].known = true;
  node->ports[0].info.lid = Lid{3};
  Subnet subnet;
  subnet.nodes.push_back(std::move(node));
  return subnet;
}

TEST(StoredLids, AreThoseOfThePictureOrItIsNotUsed) {
  Stored stored;
  EXPECT_FALSE(has_stored_lids(one_switch(), stored));
  stored.lids[Guid{1}] = {.base = Lid{3}};
  EXPECT_TRUE(has_stored_lids(one_switch(), stored));
  stored.lids[Guid{1}] = {.base = Lid{4}};
  EXPECT_FALSE(has_stored_lids(one_switch(), stored));
}

}  // namespace
}  // namespace smd::sm
