// SPDX-License-Identifier: Apache-2.0
// Typed requests of performance management by LID, through the classes' shared GSI, to the simulated agents.
#include <gtest/gtest.h>

#include <optional>

#include "mad/gsi/dispatcher.h"
#include "mad/gsi/performance.h"
#include "mad/task_group.h"
#include "tests/support/sim_lab.h"

namespace smd::test {
namespace {

using mad::Asked;
using wire::PortCounters;
using namespace std::chrono_literals;

struct PerformanceRequest : testing::Test {
  sim::World world{two_leaves()};
  Asker smi{world};
  std::unique_ptr<sim::Transport> gsi = world.transport({"h0"}, sim::Interface::gsi);
  mad::Dispatcher classes{*gsi};
  mad::Transactions tx{
      world.io().get_executor(), world.clock(), **classes.add(mad::performance_class()), {}, 5};
  sim::Faults faults = world.fabric().faults();

  void SetUp() override {
    bring_up_two_leaves(smi);
    faults.set_counter({"leaf1", PortNum{1}}, sim::Counter::symbol_errors, 321);
  }
  static mad::PerformanceTarget at(unsigned lid) {
    return {.route = {.lid = Lid{static_cast<std::uint16_t>(lid)}, .qp = 1, .qkey = mad::kQp1QKey},
            .node = Guid{lid}};
  }
  Asked<PortCounters> get(unsigned lid, unsigned port) {
    return world.run(
        mad::get_performance(tx, at(lid), PortCounters{.port = PortNum{static_cast<std::uint8_t>(port)}}));
  }
  mad::AttributeCounters counted() { return tx.counters().by_attribute.at(0); }
};

TEST_F(PerformanceRequest, CountersOfASwitchComeByItsLid) {
  const auto counters = get(12, 1);
  ASSERT_TRUE(counters) << to_string(counters.error());
  EXPECT_EQ(counters->port, PortNum{1});
  EXPECT_EQ(counters->symbol_errors, 321U);
  EXPECT_EQ(counted().mgmt_class, wire::MgmtClass::perf);
  EXPECT_EQ(counted().sent, 1U);
}

TEST_F(PerformanceRequest, ASetClearsThem) {
  PortCounters clear{.port = PortNum{1}, .select = 0xFFFF};
  const auto set = world.run(mad::set_performance(tx, at(12), clear));
  ASSERT_TRUE(set) << to_string(set.error());
  EXPECT_EQ(get(12, 1)->symbol_errors, 0U);
}

TEST_F(PerformanceRequest, APortThatIsNotThereIsRefused) {
  const auto counters = get(12, 99);
  ASSERT_FALSE(counters);
  EXPECT_EQ(counters.error().fault, mad::Fault::refused);
  EXPECT_EQ(counters.error().status, wire::kStatusBadField);
  EXPECT_EQ(counted().sent, 1U) << "a refusal is an answer";
}

TEST_F(PerformanceRequest, WhatIsLostIsSentAgain) {
  faults.loss(0.3);
  unsigned good = 0;
  for (int i = 0; i < 50; ++i) good += get(12, 1) ? 1U : 0U;
  faults.loss(0);
  EXPECT_GE(good, 48U);
  EXPECT_GT(counted().retries, 10U);
  EXPECT_EQ(counted().requests, 50U);
}

TEST_F(PerformanceRequest, AnAgentThatSaysNothingEndsAsATimeOut) {
  faults.node_loss("h1", 1);
  const auto begin = world.now();
  const auto counters = get(2, 1);
  ASSERT_FALSE(counters);
  EXPECT_EQ(counters.error().fault, mad::Fault::timeout);
  EXPECT_EQ(counters.error().tries, 4U);
  EXPECT_NEAR(static_cast<double>((world.now() - begin) / 1ms), 800, 3);
  EXPECT_EQ(to_string(counters.error()),
            "Get Perf attribute 0x0012 to LID 2: no answer to 4 tries in 800 ms");
  faults.heal("h1");
  EXPECT_TRUE(get(2, 1));
}

asio::awaitable<void> ask_all(mad::Transactions* tx, mad::PerformanceTarget target, unsigned* good) {
  const auto counters = co_await mad::get_performance(*tx, target, PortCounters{.port = PortNum{1}});
  *good += counters ? 1U : 0U;
}

/// The kernel sends 16 of an agent at once; the GSI leaves it 14.
TEST_F(PerformanceRequest, ManyAtOnceStayWithinTheWindowOfTheGsi) {
  unsigned good = 0;
  mad::TaskGroup group(world.io().get_executor());
  for (unsigned i = 0; i < 200; ++i) group.spawn(ask_all(&tx, at(i % 2 == 0 ? 12 : 10), &good));
  world.run_for(1us);
  EXPECT_EQ(tx.open(), mad::kGsiPlaces);
  EXPECT_EQ(gsi->room(), 0U);
  world.run_for(1s);
  EXPECT_EQ(good, 200U);
  EXPECT_EQ(counted().sent, 200U);
  world.run(group.stop());
}

/// Two classes number their transactions alike, and neither gets the other's answers.
TEST_F(PerformanceRequest, TwoClassesMayHaveTheSameTransactions) {
  mad::Transactions bm{world.io().get_executor(), world.clock(), classes.of(wire::MgmtClass::bm), {}, 5};
  std::optional<mad::Answer> other;
  bm.submit({.mad = wire::Mad(wire::MgmtClass::bm, 1, wire::Method::get, PortCounters::kAttribute),
             .route = at(12).route,
             .node = Guid{12}},
            [&](mad::Answer answer) { other = std::move(answer); });
  EXPECT_TRUE(get(12, 1));
  world.run_for(2s);
  ASSERT_TRUE(other);
  EXPECT_FALSE(*other) << "no simulated node has that class";
  EXPECT_EQ(tx.counters().unknown + tx.counters().mismatched, 0U);
  EXPECT_EQ(classes.dropped(), 0U);
}

}  // namespace
}  // namespace smd::test
