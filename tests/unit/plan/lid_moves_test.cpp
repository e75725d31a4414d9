// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/lid_moves.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string_view>
#include <vector>

#include "tests/support/plan_case.h"

namespace smd::sm {
namespace {

using test::PlanCase;
using test::SubnetBuilder;

// Hosts A, B, C, D on a switch. What a line does not name keeps its LID.
constexpr std::uint64_t kHub = 0x10, kHostA = 0x100, kHostB = 0x200, kHostC = 0x300, kHostD = 0x400;

struct Mover {
  std::uint64_t node;
  unsigned from, to;
  std::uint8_t from_lmc = 0, to_lmc = 0;
  PortState state = PortState::active;
};

struct MoveCase {
  std::string_view name;
  std::vector<Mover> movers;
  std::set<std::uint64_t> waiting;
};

PlanCase movers_case(const std::vector<Mover>& movers) {
  SubnetBuilder fabric;
  fabric.add_switch(kHub).sm(kHub, 0, 1);
  unsigned port = 1;
  for (const auto guid : {kHostA, kHostB, kHostC, kHostD})
    fabric.host(guid, kHub, port++).lid(guid, 1, 0xA0 + port);
  fabric.lid(kHub, 0, 1);
  for (const auto& move : movers) {
    const unsigned number = move.node == kHub ? 0 : 1;
    fabric.lid(move.node, number, move.from, move.from_lmc).state(move.node, number, move.state);
  }
  PlanCase made(fabric.build());
  for (const auto& move : movers)
    made.lid(move.node == kHub ? Guid{kHub} : test::port_guid(move.node, 1), move.to, move.to_lmc);
  return made;
}

std::set<std::uint64_t> waiting_nodes(PlanCase& made) {
  std::set<std::uint64_t> nodes;
  for (const auto& [node, port] : waiting_for_lids(made.in())) {
    nodes.insert(made.subnet.nodes[node]->guid().value());
    EXPECT_EQ(port, PortNum{static_cast<std::uint8_t>(made.subnet.nodes[node]->is_switch() ? 0 : 1)});
  }
  return nodes;
}

TEST(LidMoves, APortWaitsForTheOneThatStillHasItsLid) {
  const MoveCase cases[]{
      {"nothing moves", {}, {}},
      {"to free LIDs", {{kHostA, 2, 12}, {kHostB, 3, 13}}, {}},
      {"one waits", {{kHostA, 2, 3}, {kHostB, 3, 13}}, {kHostA}},
      {"a chain", {{kHostA, 2, 3}, {kHostB, 3, 4}, {kHostC, 4, 14}}, {kHostA, kHostB}},
      {"a swap, and nothing else moves", {{kHostA, 2, 3}, {kHostB, 3, 2}}, {}},
      {"three in turn, and nothing else moves", {{kHostA, 2, 3}, {kHostB, 3, 4}, {kHostC, 4, 2}}, {}},
      {"a swap beside another move", {{kHostA, 2, 3}, {kHostB, 3, 2}, {kHostC, 4, 14}}, {kHostA, kHostB}},
      {"two swaps", {{kHostA, 2, 3}, {kHostB, 3, 2}, {kHostC, 4, 5}, {kHostD, 5, 4}}, {}},
      {"for a switch", {{kHostA, 2, 1}, {kHub, 1, 30}}, {kHostA}},
      {"a switch for a host", {{kHostA, 2, 12}, {kHub, 1, 2}}, {kHub}},
      {"into a range that is given up", {{kHostA, 2, 6}, {kHostB, 4, 16, 2}}, {kHostA}},
      {"behind that range", {{kHostA, 2, 8}, {kHostB, 4, 16, 2}}, {}},
      {"a range over a LID that is given up", {{kHostA, 2, 4, 0, 2}, {kHostB, 7, 16}}, {kHostA}},
      {"a range before it", {{kHostA, 2, 4, 0, 2}, {kHostB, 8, 16}}, {}},
      {"a range that grows over a LID that is given up", {{kHostA, 4, 4, 0, 2}, {kHostB, 6, 16}}, {kHostA}},
      {"a range that grows does not wait for itself", {{kHostA, 4, 4, 0, 2}, {kHostB, 3, 13}}, {}},
      {"a range that moves over itself", {{kHostA, 4, 6, 2, 1}, {kHostB, 3, 13}}, {}},
  };
  for (const auto& at : cases) {
    auto made = movers_case(at.movers);

    EXPECT_EQ(waiting_nodes(made), at.waiting) << at.name;
  }
}

TEST(LidMoves, OnlyALidInServiceIsWaitedFor) {
  for (const auto state : {PortState::init, PortState::armed, PortState::active}) {
    auto made = movers_case({{kHostA, 2, 3}, {kHostB, 3, 13, 0, 0, state}});

    const auto expected = state == PortState::init ? std::set<std::uint64_t>{} : std::set{kHostA};
    EXPECT_EQ(waiting_nodes(made), expected) << to_string(state);
  }
}

TEST(LidMoves, WhatIsNoUnicastLidIsNotWaitedFor) {
  auto made = movers_case({{kHostA, 2, 3}, {kHostB, 0, 13, 2}, {kHostC, 0xC000, 14}});

  EXPECT_TRUE(waiting_nodes(made).empty());
}

TEST(LidMoves, APortThatIsNotKnownNeitherMovesNorIsWaitedFor) {
  auto made = movers_case({{kHostA, 2, 3}, {kHostB, 3, 13}, {kHostC, 4, 14}});
  auto copy = std::make_shared<Node>(made.node(kHostB));
  copy->ports[1].known = false;
  made.subnet.nodes[made.index(kHostB)] = copy;

  EXPECT_TRUE(waiting_nodes(made).empty());
}

TEST(LidMoves, ASwitchThatIsNotKnownIsNotWaitedFor) {
  auto made = movers_case({{kHostA, 2, 1}, {kHub, 1, 30}});
  auto copy = std::make_shared<Node>(made.node(kHub));
  copy->ports[0].known = false;
  made.subnet.nodes[made.index(kHub)] = copy;

  EXPECT_TRUE(waiting_nodes(made).empty());
}

TEST(LidMoves, EachPortOfACaMovesForItself) {
  SubnetBuilder fabric;
  fabric.add_switch(kHub).lid(kHub, 0, 1).sm(kHub, 0, 1).add_ca(kHostA, 2);
  fabric.link(kHub, 1, kHostA, 1).link(kHub, 2, kHostA, 2).lid(kHostA, 1, 2).lid(kHostA, 2, 3);
  PlanCase made(fabric.build());
  made.lid(test::port_guid(kHostA, 1), 3).lid(test::port_guid(kHostA, 2), 4);

  const auto waiting = waiting_for_lids(made.in());

  EXPECT_EQ(waiting, (std::set{std::pair{made.index(kHostA), PortNum{1}}}));
}

}  // namespace
}  // namespace smd::sm
