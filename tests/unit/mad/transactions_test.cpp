// SPDX-License-Identifier: Apache-2.0
// One request: its tries, its times, its end.
#include <cerrno>
#include <cstdint>
#include <map>
#include <vector>

#include "tests/support/transactions_fixture.h"

namespace smd::mad {
namespace {

TEST_F(TransactionsTest, AnAnswerEndsTheRequest) {
  make();
  wire.script = [](const Sent& sent) { return std::vector{ScriptedTransport::answer(sent, 5us)}; };

  ask(node_info());
  EXPECT_FALSE(answers[0]) << "not within submit";
  run();

  ASSERT_TRUE(answers[0] && answers[0]->has_value());
  EXPECT_EQ((*answers[0])->method(), wire::Method::get_resp);
  EXPECT_THAT(wire.sent, SizeIs(1));
  EXPECT_EQ(tx->open(), 0U);
  const auto counters = tx->counters();
  ASSERT_THAT(counters.by_attribute, SizeIs(1));
  EXPECT_EQ(counters.by_attribute[0],
            (AttributeCounters{
                .attribute = 0x11, .method = wire::Method::get, .requests = 1, .sent = 1, .answered = 1}));
}

TEST_F(TransactionsTest, ShowsHowManyRequestsAreOpenAlsoAfterItsEnd) {
  make();
  const auto shown = tx->shown_open();
  std::vector<std::uint64_t> seen;
  wire.script = [&](const Sent& sent) {
    seen.push_back(shown->get());
    return std::vector{ScriptedTransport::answer(sent, 5us)};
  };
  for (int i = 0; i < 3; ++i) ask(node_info());
  run();
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(shown->get(), 0U);
  tx.reset();
  EXPECT_EQ(shown->get(), 0U);
}

TEST_F(TransactionsTest, WhatIsNotAnsweredIsAskedAgainEvenlyAndThenGivenUp) {
  make({.timeout = 200ms, .retries = 3});

  ask(node_info(Guid{7}, path({1, 4, 7})));
  run();

  ASSERT_THAT(wire.sent, SizeIs(4));
  EXPECT_EQ(at(0), 0ms);
  EXPECT_EQ(at(1), 200ms);
  EXPECT_EQ(at(2), 400ms);
  EXPECT_EQ(at(3), 600ms);
  ASSERT_TRUE(answers[0] && !answers[0]->has_value());
  const auto& error = answers[0]->error();
  EXPECT_EQ(error.fault, Fault::timeout);
  EXPECT_TRUE(error.node_silent);
  EXPECT_EQ(to_string(error), "Get NodeInfo by DR path 0,1,4,7: no answer to 4 tries in 800 ms");
  EXPECT_EQ(tx->counters().total(&AttributeCounters::timeouts), 4U);
  EXPECT_EQ(tx->counters().total(&AttributeCounters::retries, wire::Method::get), 3U);
}

TEST_F(TransactionsTest, EachTryHasATransactionOfItsOwn) {
  make();
  ask(node_info());
  ask(node_info());
  run();

  std::map<std::uint64_t, int> seen;
  for (const auto& sent : wire.sent) ++seen[sent.mad.tid().value()];
  EXPECT_THAT(seen, SizeIs(8));
  for (const auto& [tid, count] : seen) EXPECT_EQ(tid >> 32U, 0U) << "the upper half is the kernel's";
}

TEST_F(TransactionsTest, AnAnswerToTheFirstTryCountsAlsoAfterTheSecondWasSent) {
  make();
  wire.script = [](const Sent& sent) { return std::vector{ScriptedTransport::answer(sent, 250ms)}; };

  ask(node_info(Guid{7}));
  run();

  EXPECT_TRUE(answers[0] && answers[0]->has_value());
  EXPECT_THAT(wire.sent, SizeIs(2));
  EXPECT_EQ(tx->counters().total(&AttributeCounters::duplicate), 1U) << "the answer to the second try";
}

TEST_F(TransactionsTest, ASlowNodeIsAskedOnceAsSoonAsItsSlownessIsKnown) {
  make();
  wire.script = [](const Sent& sent) { return std::vector{ScriptedTransport::answer(sent, 250ms)}; };
  ask(node_info(Guid{7}));
  run();
  wire.sent.clear();

  for (int i = 0; i < 5; ++i) {
    ask(node_info(Guid{7}));
    run();
  }

  EXPECT_THAT(wire.sent, SizeIs(5));
}

TEST_F(TransactionsTest, AFastNodeIsAskedAgainSoonerThanAnUnknownOne) {
  make({.timeout = 200ms, .min_timeout = 50ms});
  bool answers_now = true;
  wire.script = [&](const Sent& sent) {
    return answers_now ? std::vector{ScriptedTransport::answer(sent, 10us)} : std::vector<Reply>{};
  };
  ask(node_info(Guid{7}));
  run();
  answers_now = false;
  wire.sent.clear();

  ask(node_info(Guid{7}));
  run();

  EXPECT_GE(at(1) - at(0), 50ms);
  EXPECT_LE(at(1) - at(0), 52ms);
}

TEST_F(TransactionsTest, AFastNodeIsNotGivenUpSoonerThanAnUnknownOne) {
  make();
  Duration stall = 790ms;
  bool stalled = false;
  wire.script = [&](const Sent& sent) {
    return std::vector{ScriptedTransport::answer(sent, stalled ? stall : 10us)};
  };
  ask(node_info(Guid{7}));
  run();
  stalled = true;

  ask(node_info(Guid{7}));
  run();

  EXPECT_TRUE(answers[1]->has_value());
}

TEST_F(TransactionsTest, ASingleTryIsOneTryHoweverManyOthersGet) {
  make({.timeout = 200ms, .retries = 3});
  int busy = 1;
  wire.script = [&](const Sent& sent) {
    return std::vector{busy-- > 0 ? ScriptedTransport::answer(sent, 1us, 1)
                                  : Reply{.after = 1us,
                                          .bytes = {sent.mad.bytes().begin(), sent.mad.bytes().end()},
                                          .error = ETIMEDOUT}};
  };
  auto once = node_info();
  once.single_try = 70ms;

  ask(once);
  run();
  ask(once);
  run();

  EXPECT_THAT(wire.sent, SizeIs(2));
  EXPECT_EQ(answers[0]->error().fault, Fault::refused) << "busy is an answer";
  EXPECT_EQ(to_string(answers[1]->error()), "Get NodeInfo by DR path 0,1: no answer to 1 try in 70 ms");
}

TEST_F(TransactionsTest, AnswersAfterTheEndAreCountedAndDropped) {
  make({.timeout = 10ms, .retries = 0});
  wire.script = [](const Sent& sent) {
    return std::vector{ScriptedTransport::answer(sent, 30ms), ScriptedTransport::answer(sent, 40ms)};
  };

  ask(node_info());
  run();

  EXPECT_EQ(answers[0]->error().fault, Fault::timeout);
  EXPECT_EQ(tx->counters().total(&AttributeCounters::late), 2U);
}

TEST_F(TransactionsTest, ADuplicateIsCountedAsOne) {
  make();
  wire.script = [](const Sent& sent) {
    return std::vector{ScriptedTransport::answer(sent, 1us), ScriptedTransport::answer(sent, 2us)};
  };

  ask(node_info());
  run();

  EXPECT_TRUE(answers[0]->has_value());
  EXPECT_EQ(tx->counters().total(&AttributeCounters::duplicate), 1U);
  EXPECT_EQ(tx->counters().total(&AttributeCounters::answered), 1U);
}

TEST_F(TransactionsTest, AStatusIsARefusalWithTheAnswer) {
  make();
  wire.script = [](const Sent& sent) { return std::vector{ScriptedTransport::answer(sent, 1us, 0x1C)}; };

  ask(node_info());
  run();

  const auto& error = answers[0]->error();
  EXPECT_EQ(error.fault, Fault::refused);
  EXPECT_EQ(error.status, 0x1C);
  ASSERT_NE(error.answer, nullptr);
  EXPECT_EQ(error.answer->method(), wire::Method::get_resp);
  EXPECT_EQ(to_string(error), "Get NodeInfo by DR path 0,1: refused with status 0x001c (invalid field)");
}

TEST_F(TransactionsTest, ABusyNodeIsAskedAgainLater) {
  make();
  int busy = 2;
  wire.script = [&](const Sent& sent) {
    return std::vector{ScriptedTransport::answer(sent, 1ms, busy-- > 0 ? 1 : 0)};
  };

  ask(node_info(Guid{7}));
  run();

  EXPECT_TRUE(answers[0]->has_value());
  EXPECT_THAT(wire.sent, SizeIs(3));
  EXPECT_GE(at(2) - at(1), 50ms);
  EXPECT_EQ(tx->counters().total(&AttributeCounters::busy), 2U);
  EXPECT_EQ(tx->counters().total(&AttributeCounters::timeouts), 0U);
}

TEST_F(TransactionsTest, ANodeThatStaysBusyIsARefusal) {
  make({.retries = 2});
  wire.script = [](const Sent& sent) { return std::vector{ScriptedTransport::answer(sent, 1ms, 1)}; };

  ask(node_info(Guid{7}));
  run();

  EXPECT_THAT(wire.sent, SizeIs(3));
  EXPECT_EQ(answers[0]->error().fault, Fault::refused);
  EXPECT_EQ(answers[0]->error().status, 1);
}

/// What an emulation says at once of a request that it drops.
Reply dropped(const Sent& sent) {
  return {.after = 1us, .bytes = {sent.mad.bytes().begin(), sent.mad.bytes().end()}, .error = ETIMEDOUT};
}

TEST_F(TransactionsTest, ATryThatTheLowerSideSaysIsLostIsFollowedByTheNextAtOnce) {
  make();
  wire.script = [this](const Sent& sent) {
    return std::vector{wire.sent.size() < 6 ? dropped(sent) : ScriptedTransport::answer(sent, 1us)};
  };

  ask(node_info());
  run();

  EXPECT_THAT(wire.sent, SizeIs(6));
  EXPECT_EQ(at(5), 5us);
  EXPECT_TRUE(answers[0]->has_value());
  EXPECT_EQ(tx->counters().send_failed, 5U);
}

TEST_F(TransactionsTest, WhatIsLostAgainAndAgainIsNotAskedWithoutEndAndNotGivenUpSooner) {
  make();
  wire.script = [](const Sent& sent) { return std::vector{dropped(sent)}; };

  ask(node_info());
  run();

  EXPECT_LT(wire.sent.size(), 12U);
  EXPECT_EQ(at(7), 7us) << "in a row";
  EXPECT_GE(at(8), 200ms) << "then at its time";
  EXPECT_EQ(answers[0]->error().fault, Fault::timeout);
  EXPECT_GE(clock.now().time_since_epoch(), 800ms);
}

TEST_F(TransactionsTest, ATransportThatCannotSendEndsTheRequest) {
  make();
  wire.send_error = ENODEV;
  ask(node_info());
  EXPECT_FALSE(answers[0]);
  run();

  EXPECT_EQ(answers[0]->error().fault, Fault::closed);
  EXPECT_EQ(to_string(answers[0]->error()), "Get NodeInfo by DR path 0,1: cannot send: No such device");
}

TEST_F(TransactionsTest, ATransportThatIsFullForAMomentCostsOneTry) {
  make();
  wire.send_error = ENOBUFS;
  wire.script = [](const Sent& sent) { return std::vector{ScriptedTransport::answer(sent, 1us)}; };
  ask(node_info());
  wire.send_error = 0;
  run();

  EXPECT_TRUE(answers[0]->has_value());
}

TEST_F(TransactionsTest, ThereIsNoRouteToLidZero) {
  make();
  ask({.mad = wire::Smp::lid_routed(wire::Method::get, 0x20, 0), .route = LidRoute{}, .node = {}});
  run();

  EXPECT_EQ(answers[0]->error().fault, Fault::unroutable);
  EXPECT_TRUE(wire.sent.empty());
}

TEST_F(TransactionsTest, APathOfSixtyThreeHopsIsWrittenWhole) {
  make();
  DirectedPath longest;
  for (int i = 1; i <= 63; ++i) longest = *longest.then(PortNum{static_cast<std::uint8_t>(i)});
  EXPECT_FALSE(longest.then(PortNum{1}));

  ask(node_info(Guid{}, longest));

  const auto& mad = wire.sent.at(0).mad;
  EXPECT_EQ(mad.mgmt_class(), wire::MgmtClass::sm_directed);
  EXPECT_EQ(mad.hop_count(), 63);
  EXPECT_EQ(mad.hop_pointer(), 0);
  EXPECT_EQ(mad.initial_path(0), PortNum{0});
  for (std::size_t i = 1; i <= 63; ++i) EXPECT_EQ(mad.initial_path(i).value(), i);
  EXPECT_EQ(mad.dr_slid(), kPermissiveLid);
  EXPECT_EQ(mad.dr_dlid(), kPermissiveLid);
}

TEST_F(TransactionsTest, ACancelledRequestEndsOnceWhetherItWaitsOrIsOpen) {
  make({.max_outstanding = 1});
  const auto open = ask(node_info(Guid{1})), waiting = ask(node_info(Guid{1}));
  ask(node_info(Guid{1}));

  tx->cancel(waiting);
  tx->cancel(open);
  tx->cancel(open);
  tx->cancel(0);
  io.poll();

  EXPECT_EQ(to_string(answers[0]->error()), "Get NodeInfo by DR path 0,1: cancelled");
  EXPECT_EQ(answers[1]->error().fault, Fault::closed);
  EXPECT_FALSE(answers[2]);
  EXPECT_EQ(tx->open(), 1U) << "the third has its turn";
  EXPECT_EQ(tx->waiting(), 0U);
  run();
  EXPECT_TRUE(answers[2]);
}

TEST_F(TransactionsTest, WhatWaitsForASilentNodeCanBeDropped) {
  make({.per_node = 2});
  for (int i = 0; i < 10; ++i) ask(node_info(Guid{1}));

  tx->drop_waiting(Guid{1});
  tx->drop_waiting(Guid{2});
  run();

  EXPECT_THAT(wire.sent, SizeIs(8));
  EXPECT_EQ(to_string(answers[9]->error()), "Get NodeInfo by DR path 0,1: not sent, the node is silent");
  tx->forget(Guid{1});
  tx->forget(Guid{1});
}

TEST_F(TransactionsTest, ANodeThatAnswersOtherQuestionsIsNotSilent) {
  make();
  wire.script = [](const Sent& sent) {
    return sent.mad.attribute() == 0x11 ? std::vector<Reply>{}
                                        : std::vector{ScriptedTransport::answer(sent, 1ms)};
  };
  auto other = node_info(Guid{1});
  other.mad.set_attribute(0x10);
  ask(node_info(Guid{1}));
  ask(other);
  run();

  EXPECT_EQ(answers[0]->error().fault, Fault::timeout);
  EXPECT_FALSE(answers[0]->error().node_silent);
}

}  // namespace
}  // namespace smd::mad
