// SPDX-License-Identifier: Apache-2.0
// Data packets through links, leaves and trees: shares by weights, credits, deadlocks.
#include "mad/sim/arbitration/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/data_network.h"

namespace smd::test {
namespace {

using sim::Ending;
using testing::ElementsAre;
using testing::IsEmpty;

const auto kOneTwoThree = low_table({{0, 32}, {1, 64}, {2, 96}});

sim::Outcome simulated(const sim::Network& network) {
  return simulate(network, {.packets = 20'000, .warm_up = 2000});
}

/// VL0, VL1 and VL2 have these parts of what the channel carried, within 5 %.
void expect_shares(const sim::Outcome& outcome, std::uint32_t channel, double a, double b, double c) {
  const double whole = a + b + c;
  unsigned lane = 0;
  for (const double part : {a, b, c}) {
    EXPECT_NEAR(share(outcome, channel, lane), part / whole, 0.05 * part / whole) << "VL" << lane;
    ++lane;
  }
}

TEST(Simulation, ALinkIsSharedByWeights) {
  const auto outcome = simulated(one_link(kOneTwoThree));

  EXPECT_EQ(outcome.ending, Ending::counted);
  expect_shares(outcome, 0, 1, 2, 3);
  for (const auto& flow : outcome.flows)
    EXPECT_GT(flow.received.packets, 1000U);  // senders of a class are equal
}

TEST(Simulation, ALeafAndATreeAreSharedByWeights) {
  expect_shares(simulated(one_leaf(kOneTwoThree)), 0, 1, 2, 3);
  const auto together = simulated(one_tree(kOneTwoThree, true));
  expect_shares(together, 0, 1, 2, 3);
  expect_shares(together, 1, 1, 2, 3);
  expect_shares(simulated(one_tree(kOneTwoThree, false)), 0, 1, 2, 3);
}

TEST(Simulation, AMillionPacketsKeepToTheWeights) {
  for (const auto& network : {one_link(kOneTwoThree), one_leaf(kOneTwoThree), one_tree(kOneTwoThree, true)}) {
    const auto outcome = simulate(network, {.packets = 1'000'000, .warm_up = 1000});

    std::uint64_t counted = 0;
    for (const auto& flow : outcome.flows) counted += flow.received.packets;
    EXPECT_EQ(counted, 1'000'000U);
    expect_shares(outcome, network.flows[0].way.back().channel, 1, 2, 3);
    EXPECT_TRUE(conserves_packets(outcome));
  }
}

TEST(Simulation, WeightsBelowAPacketAreWorthAPacket) {
  expect_shares(simulated(one_leaf(low_table({{0, 1}, {1, 4}, {2, 32}}))), 0, 1, 1, 1);
}

TEST(Simulation, TheHighTableHasWhatItsLimitLeavesIt) {
  const auto high = [](std::uint8_t limit) {
    return simulated(
        one_leaf({.high = entries({{2, 255}}), .low = entries({{0, 32}, {1, 64}}), .high_limit = limit}));
  };
  expect_shares(high(0), 0, 1, 2, 3);
  expect_shares(high(1), 0, 1, 2, 6);
  expect_shares(high(10), 0, 1, 2, 60);
  EXPECT_EQ(share(high(255), 0, 2), 1.0);
}

TEST(Simulation, ABlockedClassCostsTheOthersNothing) {
  for (const bool together : {true, false}) {
    auto network = one_tree(kOneTwoThree, together);
    const auto before = simulated(network);
    network.channels[together ? 1 : 3].blocked = sim::vl_bit(vl(2));
    const auto after = simulated(network);

    EXPECT_EQ(after.ending, Ending::counted);
    EXPECT_EQ(received_mbps(network, after, 2), 0.0);
    EXPECT_THAT(after.loops, IsEmpty());
    EXPECT_FALSE(after.held.empty());
    for (const auto at : after.held) EXPECT_EQ(after.lanes[at].vl, vl(2));
    // They get what it leaves, by their own weights.
    EXPECT_NEAR(received_mbps(network, after, 0), 2 * received_mbps(network, before, 0), 2000);
    EXPECT_NEAR(received_mbps(network, after, 1), 2 * received_mbps(network, before, 1), 2000);
    EXPECT_TRUE(conserves_packets(after));
  }
}

TEST(Simulation, AClassOnTheSameVlIsHeldUpByTheBlockedOne) {
  DataNetwork network;
  const auto up = network.channel(kOneTwoThree), blocked = network.channel(kOneTwoThree),
             open = network.channel(kOneTwoThree);
  network.flow(0, {up, blocked});
  network.flow(0, {up, open});
  network.channels[blocked].blocked = sim::vl_bit(vl(0));
  const auto outcome = simulated(network);

  EXPECT_EQ(outcome.ending, Ending::nothing_moves);
  EXPECT_THAT(outcome.held, ElementsAre(0, 1));
  EXPECT_THAT(outcome.loops, IsEmpty());
}

TEST(Simulation, ManySendersToOneReceiverAreServedInTurn) {
  DataNetwork network;
  const auto down = network.channel(kOneTwoThree);
  for (unsigned sender = 0; sender < 30; ++sender) network.flow(0, {network.channel(kOneTwoThree), down});
  const auto outcome = simulate(network, {.packets = 30'000, .warm_up = 3000});

  for (const auto& flow : outcome.flows) EXPECT_NEAR(static_cast<double>(flow.received.packets), 1000, 10);
}

TEST(Simulation, ALinkThatAllWaitForIsNeverIdle) {
  const auto network = one_leaf(kOneTwoThree);
  const auto outcome = simulated(network);

  EXPECT_NEAR(static_cast<double>(outcome.busy[0]), static_cast<double>(outcome.elapsed), 2e6);
  const double all = received_mbps(network, outcome, 0) + received_mbps(network, outcome, 1) +
                     received_mbps(network, outcome, 2);
  EXPECT_NEAR(all, 100'000, 100);
}

TEST(Simulation, SlowLinksLeaveTheRestToOthers) {
  DataNetwork network;
  const auto tables = low_table({{0, 32}, {1, 32}});
  const auto down = network.channel(tables, 200'000);
  network.flow(0, {network.channel(tables, 56'000), down});
  network.flow(1, {network.channel(tables, 200'000), down});
  const auto outcome = simulated(network);

  EXPECT_NEAR(received_mbps(network, outcome, 0), 56'000, 560);
  EXPECT_NEAR(received_mbps(network, outcome, 1), 144'000, 1440);
}

TEST(Simulation, AFlowSendsWhatItOffers) {
  DataNetwork network;
  const auto link = network.channel(low_table({{0, 32}, {1, 32}}));
  network.flow(0, {link}, 2048, 20'000);
  network.flow(1, {link});
  const auto outcome = simulated(network);

  EXPECT_NEAR(received_mbps(network, outcome, 0), 20'000.0 * 2074 / 2048, 200);
  EXPECT_NEAR(received_mbps(network, outcome, 1), 100'000 - 20'000.0 * 2074 / 2048, 800);
  network.flows.pop_back();
  EXPECT_EQ(simulate(network, {.longest = 1'000'000'000}).ending, Ending::time);
}

TEST(Simulation, ARingOfOneVlEndsInADeadlock) {
  const auto outcome = simulated(one_ring(5, 3, false));

  EXPECT_EQ(outcome.ending, Ending::nothing_moves);
  ASSERT_EQ(outcome.loops.size(), 1U);
  std::vector<std::uint32_t> channels;
  for (const auto lane : outcome.loops[0]) channels.push_back(outcome.lanes[lane].channel);
  EXPECT_THAT(channels, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(outcome.held, IsEmpty());
  EXPECT_EQ(outcome.behind.size(), 5U);  // the senders
  EXPECT_TRUE(conserves_packets(outcome));
}

TEST(Simulation, ADeadlockIsNamedWhileOthersGoOn) {
  auto network = one_ring(5, 3, false);
  const auto apart = network.channel(kOneTwoThree);
  network.flow(0, {apart});
  const auto outcome = simulated(network);

  EXPECT_EQ(outcome.ending, Ending::counted);
  EXPECT_EQ(outcome.loops.size(), 1U);
}

TEST(Simulation, ARingWithASecondVlMoves) {
  const auto outcome = simulated(one_ring(5, 3, true));

  EXPECT_EQ(outcome.ending, Ending::counted);
  EXPECT_THAT(outcome.loops, IsEmpty());
  EXPECT_THAT(outcome.behind, IsEmpty());
}

TEST(Simulation, TheSameNetworkGivesTheSameFigures) {
  EXPECT_EQ(simulated(one_tree(kOneTwoThree, false)), simulated(one_tree(kOneTwoThree, false)));
}

}  // namespace
}  // namespace smd::test
