// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/retrain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "tests/support/plan_case.h"

namespace smd::sm {
namespace {

using test::PlanCase;
using test::SubnetBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The SM's host on root switch 0x10, which has two links to each of the middle switches 0x20 and 0x30; these
// have one link each to the bottom switch 0x40, and one to each other.
constexpr std::uint64_t kRoot = 0x10, kLeft = 0x20, kRight = 0x30, kBottom = 0x40, kOurs = 0x100;

SubnetBuilder diamond() {
  SubnetBuilder fabric;
  for (const auto guid : {kRoot, kLeft, kRight, kBottom}) fabric.add_switch(guid, 16);
  fabric.host(kOurs, kRoot, 9).sm(kOurs, 1, 1);
  fabric.link(kRoot, 1, kLeft, 1)
      .link(kRoot, 2, kLeft, 2)
      .link(kRoot, 3, kRight, 1)
      .link(kRoot, 4, kRight, 2);
  fabric.link(kLeft, 3, kBottom, 1).link(kRight, 3, kBottom, 2).link(kLeft, 4, kRight, 4);
  return fabric;
}

PortItem down_at(const Subnet& subnet, std::uint64_t node, unsigned port) {
  return {static_cast<NodeIndex>(*subnet.index_of(Guid{node})), test::port_num(port), PortState::down};
}
PortItem down_at(const PeerPort& at, const Subnet& subnet) {
  return down_at(subnet, at.node.value(), at.port.value());
}

std::vector<PeerPort> places_of(const Subnet& subnet, const std::vector<PortItem>& items) {
  std::vector<PeerPort> places;
  for (const auto& item : items) {
    EXPECT_EQ(item.target, PortState::down);
    places.push_back({subnet.nodes[item.node]->guid(), item.port});
  }
  return places;
}

struct StepCase {
  std::string_view name;
  std::vector<PeerPort> links;  // an end of each link that is to be taken down
  std::set<Guid> down;          // switches that have lost a link
  std::vector<PeerPort> expected;
};

TEST(Retrain, ThePortsOfAStepAreSafeAndTheNearerEnds) {
  using test::place;
  const StepCase cases[]{
      {"nothing to do", {}, {}, {}},
      {"one link", {place(kLeft, 3)}, {}, {place(kLeft, 3)}},
      {"the nearer end", {place(kBottom, 1)}, {}, {place(kLeft, 3)}},
      {"of equally near ends the given one", {place(kRight, 4)}, {}, {place(kRight, 4)}},
      {"the farthest first", {place(kRoot, 1), place(kLeft, 3)}, {}, {place(kLeft, 3)}},
      {"one link of each switch", {place(kLeft, 3), place(kRight, 3)}, {}, {place(kLeft, 3)}},
      {"one of two parallel links", {place(kRoot, 1), place(kRoot, 2)}, {}, {place(kRoot, 1)}},
      {"one at the nearer switch", {place(kRoot, 1), place(kRoot, 3)}, {}, {place(kRoot, 1)}},
      {"our own link last", {place(kRoot, 9), place(kRoot, 3)}, {}, {place(kRoot, 3)}},
      {"our own link alone", {place(kRoot, 9)}, {}, {place(kOurs, 1)}},
      {"switches that have lost a link lose no other",
       {place(kLeft, 3), place(kRoot, 3)},
       {Guid{kBottom}},
       {place(kRoot, 3)}},
      {"of the nearer end neither", {place(kLeft, 3), place(kRoot, 3)}, {Guid{kLeft}}, {place(kRoot, 3)}},
      {"unless nothing else is left and others stay up", {place(kRoot, 1)}, {Guid{kLeft}}, {place(kRoot, 1)}},
  };
  for (const auto& at : cases) {
    const auto subnet = diamond().build();
    std::vector<PortItem> all;
    for (const auto& link : at.links) all.push_back(down_at(link, subnet));

    EXPECT_EQ(places_of(subnet, next_to_retrain(subnet, all, at.down)), at.expected) << at.name;
  }
}

TEST(Retrain, NoLinkGoesDownThatIsTheLastOfASwitchThatHasLostOne) {
  auto fabric = diamond();
  fabric.port(kBottom, 2).peer.reset();
  fabric.port(kRight, 3).peer.reset();
  const auto subnet = fabric.build();

  EXPECT_THAT(next_to_retrain(subnet, {down_at(subnet, kLeft, 3)}, {Guid{kBottom}}), IsEmpty());
  // Nor our own link in its place.
  EXPECT_THAT(
      next_to_retrain(subnet, {down_at(subnet, kRoot, 9), down_at(subnet, kLeft, 3)}, {Guid{kBottom}}),
      IsEmpty());
  EXPECT_THAT(next_to_retrain(subnet, {down_at(subnet, kLeft, 3)}, {}),
              ElementsAre(down_at(subnet, kLeft, 3)));
}

TEST(Retrain, OfTheLinksOfOurOwnSwitchOneGoesDown) {
  const auto subnet = diamond().sm(kRoot, 0).build();

  const auto step = next_to_retrain(subnet, {down_at(subnet, kRoot, 1), down_at(subnet, kRoot, 9)}, {});

  EXPECT_THAT(step, ElementsAre(down_at(subnet, kRoot, 1)));
}

TEST(Retrain, TwoLinksWithoutACommonSwitchGoDownTogether) {
  // Two far switches, each on one of the middle ones.
  SubnetBuilder fabric;
  fabric.add_switch(kRoot).add_switch(kLeft).add_switch(kRight).add_switch(kBottom).add_switch(0x50);
  fabric.host(kOurs, kRoot, 8).sm(kOurs, 1, 1).link(kRoot, 1, kLeft, 1).link(kRoot, 2, kRight, 1);
  fabric.link(kLeft, 2, kBottom, 1).link(kRight, 2, 0x50, 1);
  const auto subnet = fabric.build();

  const auto step = next_to_retrain(subnet, {down_at(subnet, kLeft, 2), down_at(subnet, kRight, 2)}, {});

  EXPECT_THAT(step, ElementsAre(down_at(subnet, kLeft, 2), down_at(subnet, kRight, 2)));
}

TEST(Retrain, OfALeafAQuarterOfTheHostsGoesDownAtOnce) {
  const struct {
    unsigned hosts;
    std::size_t most;
  } cases[]{{1, 1}, {4, 1}, {5, 2}, {8, 2}, {9, 3}};
  for (const auto& at : cases) {
    auto fabric = diamond();
    for (unsigned p = 1; p <= at.hosts; ++p) fabric.host(0x1000 + 0x10 * p, kBottom, 2 + p);
    const auto subnet = fabric.build();
    std::vector<PortItem> all, expected;
    for (unsigned p = 1; p <= at.hosts; ++p) all.push_back(down_at(subnet, kBottom, 2 + p));
    expected.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(at.most));

    EXPECT_EQ(next_to_retrain(subnet, all, {}), expected) << at.hosts;
    // A switch that has lost a link to another switch does not keep its hosts from it.
    EXPECT_EQ(next_to_retrain(subnet, all, {Guid{kBottom}}), expected) << at.hosts;
  }
}

TEST(Retrain, HostsOfOneLeafDoNotWaitForThoseOfAnother) {
  auto fabric = diamond();
  fabric.host(0x1000, kLeft, 9).host(0x2000, kRight, 9).host(0x3000, kRoot, 10);
  const auto subnet = fabric.build();

  const auto step = next_to_retrain(
      subnet, {down_at(subnet, kRoot, 10), down_at(subnet, kLeft, 9), down_at(subnet, kRight, 9)}, {});

  EXPECT_THAT(step, ElementsAre(down_at(subnet, kLeft, 9), down_at(subnet, kRight, 9)));
}

TEST(Retrain, LinksAreThoseThatAreDecidedSo) {
  PlanCase made(diamond().build());
  made.link(kRoot, 1).retrain = made.link(kRoot, 9).retrain = made.link(kRight, 4).retrain = true;

  EXPECT_EQ(places_of(made.subnet, links_to_retrain(made.in())),
            (std::vector{test::place(kRoot, 1), test::place(kRoot, 9), test::place(kRight, 4)}));

  made.left_out = {Guid{kRoot}};
  EXPECT_EQ(places_of(made.subnet, links_to_retrain(made.in())), std::vector{test::place(kRight, 4)});
}

TEST(Retrain, ARoundSetsThePorts) {
  const auto subnet = diamond().build();
  const std::vector ports{down_at(subnet, kLeft, 3), down_at(subnet, kRight, 3)};

  const auto round = retrain_round(ports);

  EXPECT_EQ(round.phase, Phase::retrain);
  EXPECT_EQ(round.ports, ports);
  EXPECT_EQ(round.sets(), 2U);
}

}  // namespace
}  // namespace smd::sm
