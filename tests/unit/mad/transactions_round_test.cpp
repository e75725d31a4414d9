// SPDX-License-Identifier: Apache-2.0
// What a node has left unanswered is not sent to it again in the same round.
#include "tests/support/transactions_fixture.h"

namespace smd::mad {
namespace {

class TransactionsRound : public TransactionsTest {
 protected:
  /// Submits, waits; how many MADs that took.
  std::size_t sent_for(Request request) {
    const auto before = wire.sent.size();
    ask(std::move(request));
    run();
    return wire.sent.size() - before;
  }
  static Request question(std::uint16_t attribute, bool set = false, std::uint32_t modifier = 0) {
    return {.mad = wire::Smp::lid_routed(set ? wire::Method::set : wire::Method::get, attribute, modifier),
            .route = path({1}),
            .node = Guid{7}};
  }
  /// Only these are answered.
  void answer(std::function<bool(const wire::Smp&)> which) {
    wire.script = [which](const Sent& sent) {
      return which(sent.mad) ? std::vector{ScriptedTransport::answer(sent, 10us)} : std::vector<Reply>{};
    };
  }
};

TEST_F(TransactionsRound, ASilentNodeIsAskedOnce) {
  make();
  tx->begin_round();

  EXPECT_EQ(sent_for(question(0x11)), 4U);
  EXPECT_EQ(sent_for(question(0x15)), 0U);
  EXPECT_EQ(to_string(answers[1]->error()), "Get PortInfo by DR path 0,1: not sent, the node is silent");
  EXPECT_TRUE(answers[1]->error().node_silent);
  EXPECT_EQ(sent_for(question(0x11)), 0U);
  EXPECT_EQ(to_string(answers[2]->error()), "Get NodeInfo by DR path 0,1: no answer to 4 tries in 800 ms");
  EXPECT_EQ(sent_for(node_info(Guid{8})), 4U) << "another node";
}

TEST_F(TransactionsRound, ASilentNodeMayBeAskedByAnotherWay) {
  make();
  tx->begin_round();
  sent_for(question(0x12));
  auto by_another = question(0x12);
  by_another.route = path({2, 3});

  EXPECT_EQ(sent_for(by_another), 4U);
  EXPECT_EQ(sent_for(by_another), 0U);
}

TEST_F(TransactionsRound, WhatWaitsForASilentNodeEndsWithTheFirstFailure) {
  make({.per_node = 4});
  tx->begin_round();

  for (int i = 0; i < 10; ++i) ask(question(0x15, false, static_cast<std::uint32_t>(i)));
  run();

  EXPECT_THAT(wire.sent, SizeIs(16));
  EXPECT_LE(clock.now(), TimePoint{802ms});
  for (const auto& answer : answers) EXPECT_EQ(answer->error().fault, Fault::timeout);
}

TEST_F(TransactionsRound, TheNextRoundAsksAgain) {
  make();
  tx->begin_round();
  sent_for(question(0x11));
  tx->begin_round();

  EXPECT_EQ(sent_for(question(0x11)), 4U);
}

TEST_F(TransactionsRound, WithoutRoundsAllIsAskedAgain) {
  make();
  EXPECT_EQ(sent_for(question(0x11)), 4U);
  EXPECT_EQ(sent_for(question(0x11)), 4U);
}

TEST_F(TransactionsRound, ASingleTryIsAlwaysMadeAndToldOfByNothing) {
  make();
  tx->begin_round();
  auto once = question(0x20);
  once.single_try = 100ms;
  EXPECT_EQ(sent_for(once), 1U);
  sent_for(question(0x11));
  EXPECT_EQ(sent_for(once), 1U);
}

TEST_F(TransactionsRound, AnAnswerByAnyWayEndsTheSilence) {
  make();
  tx->begin_round();
  sent_for(question(0x12));
  answer([](const wire::Smp&) { return true; });
  wire.script = [](const Sent& sent) {
    auto reply = sent.mad.response();
    wire::NodeInfo info;
    info.node = Guid{7};
    reply.put(info);
    return std::vector{Reply{.after = 10us, .bytes = {reply.bytes().begin(), reply.bytes().end()}}};
  };

  EXPECT_EQ(sent_for(node_info(Guid{}, path({2, 3}))), 1U) << "found by another way";
  EXPECT_EQ(sent_for(question(0x15)), 1U);
  EXPECT_EQ(sent_for(question(0x12)), 0U) << "what it did not answer is not asked again by that way";
  auto by_another = question(0x12);
  by_another.route = path({2, 3});
  EXPECT_EQ(sent_for(by_another), 1U);
}

TEST_F(TransactionsRound, AnAttributeThatIsNotAnsweredIsNotAskedForAgain) {
  make();
  tx->begin_round();
  answer([](const wire::Smp& mad) { return mad.attribute() != 0x19; });
  ask(question(0x19, true, 0));
  EXPECT_EQ(sent_for(question(0x11)), 4U) << "three more tries, and one of this";

  EXPECT_EQ(sent_for(question(0x19, true, 1)), 0U) << "no block of the table";
  EXPECT_EQ(sent_for(question(0x15, true)), 1U);
  EXPECT_EQ(sent_for(question(0x19, false, 0)), 4U) << "a Get tells what came of the Set";
}

TEST_F(TransactionsRound, AGetThatIsNotAnsweredRulesTheSetOut) {
  make();
  tx->begin_round();
  answer([](const wire::Smp& mad) { return mad.attribute() != 0x19; });
  ask(question(0x11));
  sent_for(question(0x19));

  EXPECT_EQ(sent_for(question(0x19, true)), 0U);
}

TEST_F(TransactionsRound, OnePortThatIsNotAnsweredForSaysNothingOfTheOthers) {
  make();
  tx->begin_round();
  answer([](const wire::Smp& mad) { return mad.modifier() != 5; });
  for (std::uint32_t port = 1; port <= 8; ++port) ask(question(0x15, true, port));
  run();

  EXPECT_EQ(sent_for(question(0x15, true, 5)), 0U);
  EXPECT_EQ(sent_for(question(0x15, true, 6)), 1U);
}

TEST_F(TransactionsRound, APlaceIsAskedOnceToo) {
  make();
  tx->begin_round();
  auto there = node_info();
  there.place = 9;
  EXPECT_EQ(sent_for(there), 4U);
  EXPECT_EQ(sent_for(there), 0U);
  there.place = 10;
  EXPECT_EQ(sent_for(there), 4U);
}

}  // namespace
}  // namespace smd::mad
