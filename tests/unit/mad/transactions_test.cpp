// SPDX-License-Identifier: Apache-2.0
#include "mad/transactions/transactions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "mad/transactions/route.h"
#include "mad/virtual_clock.h"
#include "mad/wire/attributes.h"
#include "tests/support/scripted_transport.h"

namespace smd::mad {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::SizeIs;
using Sent = ScriptedTransport::Sent;
using Reply = ScriptedTransport::Reply;

DirectedPath path(std::initializer_list<int> ports) {
  DirectedPath path;
  for (const int port : ports) path = *path.then(PortNum{static_cast<std::uint8_t>(port)});
  return path;
}

Request node_info(Guid node = Guid{}, DirectedPath by = path({1})) {
  return {.mad = wire::Smp::lid_routed(wire::Method::get, wire::NodeInfo::kAttribute, 0),
          .route = by,
          .node = node};
}

/// A Transactions over a far end that the test scripts, on virtual time.
class TransactionsTest : public ::testing::Test {
 protected:
  Transactions& make(Policy policy = {}) { return tx.emplace(io.get_executor(), clock, wire, policy, 1); }
  /// Submits and keeps the answer.
  Transactions::RequestId ask(Request request) {
    const auto index = answers.size();
    answers.emplace_back();
    return tx->submit(std::move(request), [this, index](Answer answer) {
      EXPECT_FALSE(answers[index]) << "answered twice";
      answers[index] = std::move(answer);
    });
  }
  void run() {
    do {
      io.restart();
      io.poll();
    } while (clock.advance());
  }
  Duration at(std::size_t sent) const { return wire.sent.at(sent).at.time_since_epoch(); }

  asio::io_context io;
  VirtualClock clock;
  ScriptedTransport wire{clock};
  std::optional<Transactions> tx;
  std::vector<std::optional<Answer>> answers;
};

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

TEST_F(TransactionsTest, WhatNobodyAnswersIsAskedAgainEverMoreSlowlyAndThenGivenUp) {
  make({.timeout = 200ms, .max_timeout = 1s, .retries = 3});

  ask(node_info(Guid{7}, path({1, 4, 7})));
  run();

  ASSERT_THAT(wire.sent, SizeIs(4));
  EXPECT_EQ(at(0), 0ms);
  EXPECT_EQ(at(1), 200ms);
  EXPECT_EQ(at(2), 600ms);
  EXPECT_EQ(at(3), 1400ms);
  EXPECT_GE(wire.sent[0].give_up, 2400ms) << "the kernel must not give up before us";
  EXPECT_GE(wire.sent[3].give_up, 1000ms);
  ASSERT_TRUE(answers[0] && !answers[0]->has_value());
  const auto& error = answers[0]->error();
  EXPECT_EQ(error.fault, Fault::timeout);
  EXPECT_TRUE(error.node_silent);
  EXPECT_EQ(to_string(error), "Get NodeInfo by 1,4,7: no answer to 4 tries in 2.4 s");
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
  Duration stall = 2300ms;
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

TEST_F(TransactionsTest, AnswersAfterTheEndAreCountedAndDropped) {
  make({.timeout = 10ms, .max_timeout = 10ms, .retries = 0});
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
  EXPECT_EQ(to_string(error), "Get NodeInfo by 1: refused with status 0x001c (invalid field)");
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

TEST_F(TransactionsTest, SendsThatTheLowerSideGaveUpAtOnceAreResentAtTheirTime) {
  make();
  wire.script = [](const Sent& sent) {
    return std::vector{
        Reply{.after = 1us, .bytes = {sent.mad.bytes().begin(), sent.mad.bytes().end()}, .error = ETIMEDOUT}};
  };

  ask(node_info());
  run();

  EXPECT_THAT(wire.sent, SizeIs(4));
  EXPECT_EQ(at(1), 200ms);
  EXPECT_EQ(tx->counters().send_failed, 4U);
}

TEST_F(TransactionsTest, ATransportThatCannotSendEndsTheRequest) {
  make();
  wire.send_error = ENODEV;
  ask(node_info());
  EXPECT_FALSE(answers[0]);
  run();

  EXPECT_EQ(answers[0]->error().fault, Fault::closed);
  EXPECT_EQ(to_string(answers[0]->error()), "Get NodeInfo by 1: cannot send: No such device");
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

TEST_F(TransactionsTest, ANodeGetsNoMoreThanItsWindowAtATime) {
  make({.max_outstanding = 64, .per_node = 4});
  std::map<int, int> outstanding;
  int most = 0;
  wire.script = [&](const Sent& sent) {
    const int node = sent.mad.initial_path(1).value();
    most = std::max(most, ++outstanding[node]);
    clock.call_at(clock.now() + 10us, [&, node] { --outstanding[node]; });
    return std::vector{ScriptedTransport::answer(sent, 10us)};
  };

  for (int i = 0; i < 30; ++i) {
    ask(node_info(Guid{1}, path({1})));
    ask(node_info(Guid{2}, path({2})));
  }
  EXPECT_EQ(tx->open(), 8U);
  EXPECT_EQ(tx->waiting(), 52U);
  run();

  EXPECT_EQ(most, 4);
  for (const auto& answer : answers) EXPECT_TRUE(answer && answer->has_value());
}

TEST_F(TransactionsTest, AllTogetherGetNoMoreThanTheGlobalWindow) {
  make({.max_outstanding = 10});
  wire.script = [](const Sent& sent) { return std::vector{ScriptedTransport::answer(sent, 10us)}; };

  for (std::uint64_t i = 1; i <= 100; ++i) ask(node_info(Guid{i}));
  EXPECT_EQ(tx->open(), 10U);
  run();

  for (const auto& answer : answers) EXPECT_TRUE(answer && answer->has_value());
}

TEST_F(TransactionsTest, ATransportWithoutRoomMakesNewRequestsWaitForAnswers) {
  make();
  wire.free_room = 0;
  ask(node_info());
  EXPECT_TRUE(wire.sent.empty());

  clock.advance();
  EXPECT_TRUE(wire.sent.empty());
  wire.free_room = 1;
  wire.script = [this](const Sent& sent) {
    wire.free_room = 0;
    clock.call_at(clock.now() + 1us, [this] { wire.free_room = 1; });
    return std::vector{ScriptedTransport::answer(sent, 1us)};
  };
  run();
  wire.free_room = 1;
  ask(node_info());
  ask(node_info());
  EXPECT_EQ(tx->open(), 1U);
  run();

  EXPECT_THAT(wire.sent, SizeIs(3));
  for (const auto& answer : answers) EXPECT_TRUE(answer && answer->has_value());
}

TEST_F(TransactionsTest, SilentNodesDoNotHoldUpTheOthers) {
  make({.max_outstanding = 32});
  wire.script = [](const Sent& sent) {
    return sent.mad.initial_path(1).value() == 1 ? std::vector<Reply>{}
                                                 : std::vector{ScriptedTransport::answer(sent, 10us)};
  };

  for (std::uint64_t i = 1; i <= 100; ++i) ask(node_info(Guid{i}, path({1})));
  for (std::uint64_t i = 1; i <= 1000; ++i) ask(node_info(Guid{1000 + i}, path({2})));
  while (clock.now() < TimePoint{1s} && clock.advance()) {
    io.restart();
    io.poll();
  }

  for (std::size_t i = 100; i < answers.size(); ++i) EXPECT_TRUE(answers[i] && answers[i]->has_value());
  EXPECT_EQ(tx->open(), 100U) << "the silent ones, all at the same time";
  run();
  EXPECT_LE(clock.now(), TimePoint{4s});
}

TEST_F(TransactionsTest, LossMakesTheNodesWindowSmallerAndAnswersMakeItGrowAgain) {
  make({.max_outstanding = 64, .per_node = 16});
  bool lose = true;
  int outstanding = 0, most = 0;
  wire.script = [&](const Sent& sent) {
    if (lose) return std::vector<Reply>{};
    most = std::max(most, ++outstanding);
    clock.call_at(clock.now() + 10us, [&] { --outstanding; });
    return std::vector{ScriptedTransport::answer(sent, 10us)};
  };
  for (int i = 0; i < 16; ++i) ask(node_info(Guid{1}));
  run();
  lose = false;

  for (int i = 0; i < 40; ++i) ask(node_info(Guid{1}));
  EXPECT_LE(most, 4);
  for (int i = 0; i < 400; ++i) ask(node_info(Guid{1}));
  run();

  EXPECT_EQ(most, 16);
}

TEST_F(TransactionsTest, WithFortyPercentLossBothWaysNearlyAllIsAnsweredAndTheSameSeedSendsTheSame) {
  const auto trace = [this](std::uint32_t seed) {
    tx.reset();
    answers.clear();
    wire.sent.clear();
    make({.retries = 12});
    std::mt19937 random(seed);
    wire.script = [&random](const Sent& sent) {
      return random() % 100 < 64 ? std::vector<Reply>{} : std::vector{ScriptedTransport::answer(sent, 20us)};
    };
    const auto start = clock.now();
    for (std::uint64_t i = 0; i < 500; ++i) ask(node_info(Guid{i % 50 + 1}));
    run();
    std::vector<std::pair<Duration, std::uint64_t>> sent;
    for (const auto& one : wire.sent) sent.emplace_back(one.at - start, one.mad.tid().value());
    return sent;
  };
  const auto first = trace(5);
  std::size_t good = 0;
  for (const auto& answer : answers) good += answer->has_value() ? 1U : 0U;

  EXPECT_GE(good, 490U);
  // A whole number of ticks later, so that resend times round alike.
  clock.call_at(TimePoint{(clock.now().time_since_epoch() / 1s + 1) * 1s}, [] {});
  clock.advance();
  const auto second = trace(5);
  clock.call_at(TimePoint{(clock.now().time_since_epoch() / 1s + 1) * 1s}, [] {});
  clock.advance();
  EXPECT_EQ(second, trace(5));
  EXPECT_EQ(first, second);
}

TEST_F(TransactionsTest, WhatIsNoAnswerToAnythingIsCountedAndNeverHurts) {
  make();
  std::vector<std::vector<std::uint8_t>> garbage{{},
                                                 {1},
                                                 std::vector<std::uint8_t>(23, 0xFF),
                                                 std::vector<std::uint8_t>(255, 0x81),
                                                 std::vector<std::uint8_t>(256, 0xFF),
                                                 std::vector<std::uint8_t>(4096, 0x81)};
  ask(node_info());
  for (const auto& bytes : garbage) wire.deliver(bytes);

  EXPECT_EQ(tx->counters().malformed, 4U);
  EXPECT_EQ(tx->counters().unknown + tx->counters().mismatched, 2U);
  EXPECT_FALSE(answers[0]);
}

TEST_F(TransactionsTest, AnAnswerWithTheRightTransactionAndTheWrongAttributeClassOrMethodIsNone) {
  make({.retries = 0});
  wire.script = [](const Sent& sent) {
    auto attribute = sent.mad.response(), mgmt_class = sent.mad.response(), method = sent.mad.response();
    attribute.set_attribute(0x12);
    mgmt_class.set_mgmt_class(wire::MgmtClass::sm_lid);
    method.set_method(wire::Method::report_resp);
    std::vector<Reply> replies;
    for (const auto& bad : {attribute, mgmt_class, method}) {
      replies.push_back({.after = 1us, .bytes = {bad.bytes().begin(), bad.bytes().end()}});
    }
    return replies;
  };

  ask(node_info());
  run();

  EXPECT_EQ(answers[0]->error().fault, Fault::timeout);
  EXPECT_EQ(tx->counters().mismatched, 3U);
}

TEST_F(TransactionsTest, ATryThatWasNotSentYetCannotBeAnswered) {
  make();
  ask(node_info());
  auto forged = wire.sent.at(0).mad.response();
  forged.set_tid(Tid{forged.tid().value() + 1});

  wire.deliver({forged.bytes().begin(), forged.bytes().end()});

  EXPECT_EQ(tx->counters().mismatched, 1U);
  EXPECT_FALSE(answers[0]);
}

TEST_F(TransactionsTest, TheKernelsHalfOfTheTransactionIsIgnored) {
  make();
  wire.script = [](const Sent& sent) {
    auto reply = sent.mad.response();
    reply.set_tid(Tid{reply.tid().value() | 0xABCD'0000'0000'0000U});
    return std::vector{Reply{.after = 1us, .bytes = {reply.bytes().begin(), reply.bytes().end()}}};
  };

  ask(node_info());
  run();

  EXPECT_TRUE(answers[0]->has_value());
}

TEST_F(TransactionsTest, RandomBytesNeverHurt) {
  make({.unsolicited_rate = 1, .unsolicited_burst = 50});
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) ask(node_info(Guid{static_cast<std::uint64_t>(i)}));
  int heard = 0;
  tx->on_unsolicited([&](Received&&) { ++heard; });
  for (int i = 0; i < 100'000; ++i) {
    std::vector<std::uint8_t> bytes(random() % 3 == 0 ? random() % 600 : 256);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    if (bytes.size() > 20 && random() % 2 == 0) {  // near what was asked, so that more of it gets further
      const auto& near = wire.sent[random() % wire.sent.size()].mad.bytes();
      std::copy_n(near.begin(), std::min<std::size_t>(random() % 24, bytes.size()), bytes.begin());
    }
    wire.deliver(std::move(bytes));
  }
  run();

  EXPECT_LE(heard, 50);
  for (const auto& answer : answers) EXPECT_TRUE(answer);
}

TEST_F(TransactionsTest, MadsThatNobodyAskedForAreHandedOnUpToARate) {
  make({.unsolicited_rate = 100, .unsolicited_burst = 10});
  std::vector<Received> heard;
  auto trap = wire::Smp::lid_routed(wire::Method::trap, 0x02, 0);
  const std::vector<std::uint8_t> bytes{trap.bytes().begin(), trap.bytes().end()};
  wire.deliver(bytes);
  tx->on_unsolicited([&](Received&& received) { heard.push_back(std::move(received)); });

  for (int i = 0; i < 50; ++i) wire.deliver(bytes);
  EXPECT_THAT(heard, SizeIs(10));
  clock.call_at(TimePoint{50ms}, [] {});
  clock.advance();
  for (int i = 0; i < 50; ++i) wire.deliver(bytes);

  EXPECT_THAT(heard, SizeIs(15));
  EXPECT_EQ(heard[0].bytes, bytes);
  EXPECT_EQ(tx->counters().unsolicited_dropped, 86U);
}

TEST_F(TransactionsTest, AReplyGoesBackTheWayTheRequestCame) {
  make();
  auto request = wire::Smp::directed(wire::Method::get, 0x20, 0, path({3, 4}));
  request.set_tid(Tid{0x1234567800000042});
  const LidRoute from{.lid = Lid{9}};

  EXPECT_TRUE(tx->respond(request.response(), from));
  request.set_mgmt_class(wire::MgmtClass::sm_lid);
  EXPECT_TRUE(tx->respond(request.response(), from));

  EXPECT_EQ(wire.sent[0].mad.tid(), Tid{0x1234567800000042});
  EXPECT_TRUE(wire.sent[0].mad.returning());
  EXPECT_TRUE(std::holds_alternative<DirectedPath>(wire.sent[0].route));
  EXPECT_EQ(std::get<LidRoute>(wire.sent[1].route), from);
  EXPECT_EQ(wire.sent[1].give_up, 0ms);
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

  EXPECT_EQ(to_string(answers[0]->error()), "Get NodeInfo by 1: cancelled");
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
  EXPECT_EQ(to_string(answers[9]->error()), "Get NodeInfo by 1: not sent, the node is silent");
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
