// SPDX-License-Identifier: Apache-2.0
// What a dry run says first: LIDs, routes in use, links.
#include "smd/report/disruption.h"

#include <gtest/gtest.h>

#include "tests/support/offline.h"

namespace smd::sm {
namespace {

/// `change` is made to a copy of a node of a fabric that is as it should be.
template <class Change>
Disruption after(std::string_view wanted, Change change) {
  auto fabric = test::settle_spec("ft2:4");
  for (auto& node : fabric.subnet.nodes) {
    if (node->description != wanted) continue;
    auto copy = std::make_shared<Node>(*node);
    change(*copy);
    node = copy;
  }
  const PlanInput in{.subnet = fabric.subnet, .decided = fabric.decided};
  return disruption_of(fabric.subnet, fabric.decided, plan(in, routing::Serial()));
}

TEST(Disruption, AFabricThatIsAsItShouldBeHasNone) {
  const auto found = after("none", [](Node&) {});

  EXPECT_FALSE(found.any());
  EXPECT_EQ(found.entries_in_use, 82U);  // 6 switches, 14 LIDs; no route leads from one spine to the other
  EXPECT_EQ(to_string(found),
            "LIDs: 0 change\nroutes: 0 of 82 entries of ports in use change\nlinks taken down: none\n");
}

TEST(Disruption, AnotherLidAndAnotherPortOfARouteAreCounted) {
  const auto lid = after("h00003", [](Node& node) { node.ports[1].info.lid = Lid{900}; });
  EXPECT_EQ(lid.lids_changed, 1U);
  EXPECT_EQ(lid.entries_changed, 0U) << "no switch has a route to that LID";
  EXPECT_EQ(lid.entries_in_use, 82U - 6U);

  std::size_t moved = 0;
  const auto routes = after("leaf000", [&](Node& node) {
    auto row = std::make_shared<routing::LftRow>(*node.lft.row);
    for (auto& port : *row) {
      if (port != 3) continue;
      port = 4;
      ++moved;
    }
    node.lft.row = row;
  });
  EXPECT_GT(moved, 0U);
  EXPECT_EQ(routes.entries_changed, moved);
  EXPECT_TRUE(routes.any());
}

TEST(Disruption, PortsAndSwitchesThatCarryNothingYetDoNotCount) {
  const auto down = after("h00003", [](Node& node) {
    node.ports[1].info.lid = Lid{900};
    node.ports[1].info.port_state = PortState::init;
  });
  EXPECT_EQ(down.lids_changed, 0U);
  const auto idle = after("leaf000", [](Node& node) { node.switch_info->linear_fdb_top = 0; });
  EXPECT_EQ(idle.entries_in_use, 82U - 14U);
}

TEST(Disruption, LinksAreNamedAndManyAreCounted) {
  Disruption links{.links = {"a", "b", "c", "d", "e", "f", "g"}};
  EXPECT_EQ(to_string(links).substr(to_string(links).find("links")),
            "links taken down: 7: a; b; c; d; e; and 2 more\n");
  EXPECT_TRUE(links.any());
}

}  // namespace
}  // namespace smd::sm
